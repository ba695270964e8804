// The room table as a diagram: an arrow that follows from others is left out.
import { ROOMS } from './rooms.ts'

export function drawRooms(): string {
  const rooms = Object.keys(ROOMS)
  const lines = rooms.flatMap((room) => {
    const may = ROOMS[room]?.may ?? []
    const isDirect = (to: string): boolean => !may.some((via) => via !== to && reaches(via, to))
    return [
      ...may.filter(isDirect).map((to) => `  ${room} --> ${to}`),
      ...(ROOMS[room]?.portsOf ?? []).map((to) => `  ${room} -.-> ${to}`),
    ]
  })
  const alone = rooms.filter((room) => !lines.some((line) => line.split(/ +/).includes(room)))
  return ['flowchart TD', ...alone.map((room) => `  ${room}`), ...lines].join('\n')
}

function reaches(from: string, to: string): boolean {
  const next = ROOMS[from]?.may ?? []
  return next.includes(to) || next.some((via) => reaches(via, to))
}
