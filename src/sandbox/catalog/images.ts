/** A base OS image as the service shows it (API document: Base image). */
export interface BaseImage {
  id: string;
  name: string;
  description: string | null;
  logo_url: string | null;
  os_type: 'linux' | 'windows';
  distro_version: string;
  driver_version: string | null;
  cuda_version: string;
  supports_docker: boolean;
  supports_rdp: boolean;
  specs: Record<string, unknown> | null;
  sort_order: number;
}

/** The base images of the sandbox, with fixed IDs. */
export const IMAGES: readonly BaseImage[] = [
  {
    id: '22042204-0000-4000-8000-000000000011',
    name: 'Ubuntu 22.04',
    description: 'Ubuntu 22.04 LTS with the NVIDIA driver, CUDA and Docker',
    logo_url: null,
    os_type: 'linux',
    distro_version: '22.04',
    driver_version: '550.90.07',
    cuda_version: '12.4',
    supports_docker: true,
    supports_rdp: false,
    specs: { python: '3.10', docker: '27.1' },
    sort_order: 1,
  },
  {
    id: '24042404-0000-4000-8000-000000000012',
    name: 'Ubuntu 24.04',
    description: 'Ubuntu 24.04 LTS with the NVIDIA driver, CUDA and Docker',
    logo_url: null,
    os_type: 'linux',
    distro_version: '24.04',
    driver_version: '570.86.15',
    cuda_version: '12.8',
    supports_docker: true,
    supports_rdp: false,
    specs: { python: '3.12', docker: '27.5' },
    sort_order: 2,
  },
  {
    id: '20222022-0000-4000-8000-000000000013',
    name: 'Windows Server 2022',
    description: 'Windows Server 2022 with the NVIDIA driver and remote desktop',
    logo_url: null,
    os_type: 'windows',
    distro_version: '2022',
    driver_version: '551.61',
    cuda_version: '12.4',
    supports_docker: false,
    supports_rdp: true,
    specs: null,
    sort_order: 3,
  },
];

export function findImage(id: string): BaseImage | undefined {
  return IMAGES.find((one) => one.id === id);
}
