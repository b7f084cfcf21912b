import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { type StateInput, stateOption } from './flags.ts';
import {
  type Catalog,
  type CatalogRow,
  catalogRowView,
  catalogView,
  imageView,
  offerView,
} from './view.ts';

export function registerCatalog(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes:
      'The ids never change. The service itself documents no catalog; its offers and images have other ids.',
    examples: [
      'gpucloud sandbox catalog',
      'gpucloud sandbox catalog --json',
      'gpucloud sandbox catalog -o csv --columns kind,id,name,price_per_hour',
    ],
  })
    .addOption(stateOption())
    .action(({ state }, command) => showCatalog({ state }, frame.context(command)));
}

/**
 * Two tables for people, one document `{offers, images}` where there is structure, and one list of
 * both where a format is rows alone or columns were chosen.
 */
export async function showCatalog({ state }: StateInput, context: Context): Promise<void> {
  const catalog = await (await context.sandbox(state)).catalog();
  const { out, flags } = context;
  const chosen = flags.columns !== undefined || flags.sort !== undefined;
  if (chosen || out.format === 'csv' || out.format === 'tsv' || out.format === 'id') {
    await out.list(rowsOf(catalog), catalogRowView);
  } else if (out.format === 'table') {
    await out.list(catalog.offers, offerView);
    await out.text('\n');
    await out.list(catalog.images, imageView);
    context.err.note(nextCommand(catalog, state));
  } else {
    await out.item(catalog, catalogView);
  }
}

function rowsOf({ offers, images }: Catalog): CatalogRow[] {
  return [
    ...offers.map((offer) => ({ kind: 'offer', ...offer }) as const),
    ...images.map((image) => ({ kind: 'image', ...image }) as const),
  ];
}

function nextCommand({ offers, images }: Catalog, state: string | undefined): string {
  if (state !== undefined) {
    return `Serve this sandbox with: gpucloud sandbox serve --state ${state}`;
  }
  const offer = offers.find((one) => one.in_stock);
  const [image] = images;
  return `Rent one: gpucloud --profile sandbox instances create my-box --offer ${offer?.id ?? 'ID'} --image ${image?.id ?? 'ID'} --wait`;
}
