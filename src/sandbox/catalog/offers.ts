/** A catalog offer. The sandbox adds the price, which the API document lacks. */
export type PricedOffer = ReturnType<typeof offer>;

/** A hardware configuration as the service shows it (API document: Offer). */
export type Offer = Omit<PricedOffer, 'price_per_hour'>;

const SINCE = '2025-01-01T00:00:00.000Z';

/** API document: Provider. */
export const PROVIDER = {
  id: '5a4db0c5-0000-4000-8000-000000000031',
  slug: 'sandbox',
  name: 'Sandbox Provider',
  created_at: SINCE,
  updated_at: SINCE,
};

interface Hardware {
  id: string;
  name: string;
  gpu: string;
  gpuModelId: string;
  /** PCIE by default. */
  interconnect?: string;
  cards?: number;
  cardVram: number;
  cpu: number;
  ram: number;
  disk: number;
  fast: number;
  region: string;
  price: string;
  inStock?: boolean;
}

function offer(hardware: Hardware) {
  const { cards = 1, inStock = true, interconnect = 'PCIE' } = hardware;
  return {
    id: hardware.id,
    name: hardware.name,
    interconnect,
    provider_id: PROVIDER.id,
    gpu_model_id: hardware.gpuModelId,
    external_offer_id: `sandbox-${hardware.id.slice(0, 8)}`,
    in_stock: inStock,
    region: hardware.region,
    gpu_count: cards,
    cpu_cores: hardware.cpu,
    vram_gb: cards * hardware.cardVram,
    ram_gb: hardware.ram,
    root_disk_gb: hardware.disk,
    ephemeral_disk_gb: hardware.fast,
    metadata: null,
    gpu_model: {
      id: hardware.gpuModelId,
      name: hardware.gpu,
      slug: hardware.gpu.toLowerCase().replaceAll(' ', '-'),
      description: null,
      vram_gb: hardware.cardVram,
      created_at: SINCE,
      updated_at: SINCE,
    },
    created_at: SINCE,
    updated_at: SINCE,
    price_per_hour: hardware.price,
  };
}

const H100 = '9d000100-0000-4000-8000-000000000043';

/** The sandbox's offers. Their IDs are fixed, so that documents and scripts can name them. */
export const OFFERS: readonly PricedOffer[] = [
  offer({
    id: '40904090-0000-4000-8000-000000000001',
    name: 'RTX 4090',
    gpu: 'NVIDIA RTX 4090',
    gpuModelId: '9d004090-0000-4000-8000-000000000041',
    cardVram: 24,
    cpu: 16,
    ram: 64,
    disk: 100,
    fast: 200,
    region: 'ru-1',
    price: '89.90',
  }),
  offer({
    id: 'a100a100-0000-4000-8000-000000000002',
    name: 'A100 80GB',
    gpu: 'NVIDIA A100 80GB',
    gpuModelId: '9d00a100-0000-4000-8000-000000000042',
    cardVram: 80,
    cpu: 16,
    ram: 128,
    disk: 200,
    fast: 500,
    region: 'ru-1',
    price: '189.50',
  }),
  offer({
    id: '01000100-0000-4000-8000-000000000003',
    name: 'H100 80GB',
    gpu: 'NVIDIA H100 80GB',
    gpuModelId: H100,
    cardVram: 80,
    cpu: 24,
    ram: 192,
    disk: 200,
    fast: 1000,
    region: 'ru-2',
    price: '299.95',
  }),
  offer({
    id: '81008100-0000-4000-8000-000000000004',
    name: '8x H100 80GB SXM5',
    gpu: 'NVIDIA H100 80GB',
    gpuModelId: H100,
    interconnect: 'SXM5',
    cards: 8,
    cardVram: 80,
    cpu: 192,
    ram: 2048,
    disk: 500,
    fast: 15_000,
    region: 'ru-2',
    price: '2359.60',
  }),
  offer({
    id: '30903090-0000-4000-8000-000000000005',
    name: 'RTX 3090',
    gpu: 'NVIDIA RTX 3090',
    gpuModelId: '9d003090-0000-4000-8000-000000000045',
    cardVram: 24,
    cpu: 8,
    ram: 32,
    disk: 100,
    fast: 0,
    region: 'ru-1',
    price: '54.00',
    inStock: false,
  }),
];

export function findOffer(id: string): PricedOffer | undefined {
  return OFFERS.find((one) => one.id === id);
}

/** Returns the offer as the service shows it, without the sandbox's price. */
export function offerView(offer: PricedOffer): Offer {
  const { price_per_hour: _, ...shown } = offer;
  return shown;
}
