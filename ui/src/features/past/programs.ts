const NAMES: Record<string, string> = {
  jsonl: 'Mnemoir',
  json: 'Mnemoir',
  mnemoir: 'Mnemoir',
  chatgpt: 'ChatGPT',
  claude: 'Claude',
  deepseek: 'DeepSeek',
  'open-webui': 'Open WebUI',
  librechat: 'LibreChat',
  'big-agi': 'Big-AGI',
  'lm-studio': 'LM Studio',
  jan: 'Jan',
  sillytavern: 'SillyTavern',
  openai: 'a list of messages',
  mcp: 'the MCP server memory',
  letta: 'Letta',
  text: 'a text',
};

/** The program of a format in words; one that is new here as it is. */
export const programOf = (format: string) => NAMES[format] ?? format;

/** "1 conversation", "2 conversations". */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}
