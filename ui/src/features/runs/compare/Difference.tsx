import classes from './Compare.module.css';

interface DifferenceProps {
  left: number | null;
  right: number | null;
  show: (value: number) => string;
}

/** How much more or less the second is: "+120 ms (+15 %)". */
export function Difference({ left, right, show }: DifferenceProps) {
  if (left === null || right === null) return <>–</>;
  const by = right - left;
  if (by === 0) return <>the same</>;
  const sign = by > 0 ? '+' : '−';
  return (
    <>
      {sign}
      {show(Math.abs(by))}
      {left > 0 && (
        <span className={classes.percent}>{` (${sign}${Math.round((Math.abs(by) / left) * 100)} %)`}</span>
      )}
    </>
  );
}
