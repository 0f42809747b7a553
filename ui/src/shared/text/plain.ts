/** Marks at the beginning of a line: fences with their language, headings, quotes, points of a list. */
const OF_A_LINE = /^[ \t]*(?:(?:```|~~~)[^\n]*|#{1,6}[ \t]+|(?:>[ \t]?)+|[-*+][ \t]+)/gm;
const EMPHASIS = /(\*\*|__|~~|`{1,2})(?=\S)(.{1,200}?)(?<=\S)\1/g;
const LINK = /!?\[([^\][\n]{0,300})\]\([^()\s]{0,2000}\)/g;

/** The words of a Markdown text without its marks, for an excerpt of a line or two. */
export function plainWords(markdown: string): string {
  return markdown.replace(OF_A_LINE, '').replace(LINK, '$1').replace(EMPHASIS, '$2').trim();
}
