import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import classes from './Plot.module.css';

/** The value of a token, for what is drawn on a canvas. */
export type Paint = (token: string) => string;

export type PlotOptions = Omit<uPlot.Options, 'width' | 'height'>;

interface PlotProps {
  data: uPlot.AlignedData;
  height: number;
  /** One function for one look: with another one it is drawn anew. */
  optionsOf: (paint: Paint, font: string) => PlotOptions;
}

/**
 * A picture of numbers, as wide as there is room. A chunk of its own; what it shows is also told in words, so that it is
 * hidden from screen readers.
 */
export default function Plot({ data, height, optionsOf }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme();
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const style = getComputedStyle(element);
    const options = optionsOf(token => style.getPropertyValue(token).trim(), `${style.fontSize} ${style.fontFamily}`);
    const plot = new uPlot({ ...options, width: element.clientWidth, height }, data, element);
    const room = new ResizeObserver(() => {
      if (element.clientWidth !== plot.width) plot.setSize({ width: element.clientWidth, height });
    });
    room.observe(element);
    return () => {
      room.disconnect();
      plot.destroy();
    };
  }, [data, height, optionsOf, scheme]);
  return <div ref={host} className={classes.plot} aria-hidden />;
}
