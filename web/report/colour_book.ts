// Which colour a series has.

const SERIES_COLOURS = 8;

export interface SeriesColour {
  property: string;
  again: boolean; // more series than colours: told apart by dots
}

/**
 * Gives each series a colour: the same name has the same colour in every chart of the page, as long
 * as no other series of its chart holds it already. Curves and bars count on their own, so that
 * either begin with the first colours.
 */
export function makeColourBook(): (kind: "line" | "bars", names: string[]) => SeriesColour[] {
  const preferred = new Map<string, number>();
  const used = { line: 0, bars: 0 };
  return (kind, names) => {
    const taken = new Set<number>();
    return names.map((name) => {
      const first = preferred.get(name) ?? used[kind]++;
      preferred.set(name, first);
      let colour = first % SERIES_COLOURS;
      for (let i = 0; i < SERIES_COLOURS && taken.has(colour); ++i) {
        colour = (colour + 1) % SERIES_COLOURS;
      }
      const again = taken.has(colour);
      taken.add(colour);
      return { property: `--series-${colour + 1}`, again };
    });
  };
}
