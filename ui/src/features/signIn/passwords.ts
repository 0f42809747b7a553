/** In characters, as the server wants it. */
export const SHORTEST_PASSWORD = 10;
