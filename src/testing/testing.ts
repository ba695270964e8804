/** `perago/testing`: servers and helpers for the tests of those who use perago. */

export {}
