import { SettingsDialog } from '@/features/chat/settings/SettingsDialog';
import { ImportDialog } from '@/features/memories/dialogs/ImportDialog';
import { AddMemoryDialog } from '@/shared/components/AddMemoryDialog';
import { ImportConversations } from '@/shared/components/ImportConversations';
import { useScope } from '@/shared/data/scope';

export type PaletteDialog = 'add' | 'settings' | 'importChats' | 'importMemories';

interface PaletteDialogsProps {
  shown: PaletteDialog;
  onClose: () => void;
}

/** The dialogs that actions of the palette open. */
export default function PaletteDialogs({ shown, onClose }: PaletteDialogsProps) {
  const owner = useScope();
  const dialogs = {
    add: <AddMemoryDialog owner={owner} onClose={onClose} />,
    settings: <SettingsDialog opened onClose={onClose} onClosed={() => undefined} />,
    importChats: <ImportConversations onClose={onClose} />,
    importMemories: <ImportDialog owner={owner} onClose={onClose} />,
  };
  return dialogs[shown];
}
