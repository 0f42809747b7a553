const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size in the unit that fits: "1.2 MiB". */
export function bytes(size: number): string {
  const step = size < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(size) / 10));
  const value = size / 1024 ** step;
  const digits = step === 0 || value >= 100 ? 0 : 1;
  return `${value.toLocaleString(undefined, { maximumFractionDigits: digits })} ${UNITS[step] ?? ''}`;
}
