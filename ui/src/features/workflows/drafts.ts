/** What was typed in place of a file in this tab, and the digest of the text that it was made from. */
export interface Draft {
  text: string;
  base: string;
}
