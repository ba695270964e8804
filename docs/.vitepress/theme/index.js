// The fonts of the reader's system: the default theme would bring its own, of 800 KB.
import theme from 'vitepress/theme-without-fonts'
import './style.css'

export default theme
