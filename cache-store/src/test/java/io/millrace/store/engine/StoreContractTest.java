package io.millrace.store.engine;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.SystemFileIo;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** Runs the contract for each kind of store. */
class StoreContractTest {
    /** Volumes that admit every object, also when they are full. */
    static StoreConfig.Builder volumes(int... mebibytes) {
        List<VolumeConfig> volumes = new java.util.ArrayList<>();
        for (int i = 0; i < mebibytes.length; i++) {
            volumes.add(new VolumeConfig(Path.of("/volume" + i), (long) mebibytes[i] << 20));
        }
        return StoreConfig.builder()
                .volumes(volumes)
                .segmentBytes(128 * 1024)
                .blockBytes(8192)
                .diskAdmission(DiskAdmission.ALWAYS)
                .ioThreads(2);
    }

    @Nested
    class RamOnly extends CacheStoreContract {
        @Override
        TestStore open() {
            return new TestStore(
                    StoreConfig.builder().ramBytes(4 << 20).ramObjectBytesMax(64 << 10), new FaultyFileIo());
        }

        @Override
        int bodyBytesMax() {
            return 64 << 10;
        }
    }

    @Nested
    class RamAndDisk extends CacheStoreContract {
        @Override
        TestStore open() {
            return new TestStore(volumes(4).ramBytes(1 << 20), new FaultyFileIo());
        }

        @Override
        int bodyBytesMax() {
            return 1 << 20;
        }
    }

    @Nested
    class DiskOnly extends CacheStoreContract {
        @Override
        TestStore open() {
            return new TestStore(volumes(4).ramBytes(0), new FaultyFileIo());
        }

        @Override
        int bodyBytesMax() {
            return 1 << 20;
        }
    }

    @Nested
    class LittleRam extends CacheStoreContract {
        @Override
        TestStore open() {
            return new TestStore(volumes(4).ramBytes(10_000).ramObjectBytesMax(4000), new FaultyFileIo());
        }

        @Override
        int bodyBytesMax() {
            return 1 << 20;
        }
    }

    @Nested
    class ThreeVolumes extends CacheStoreContract {
        @Override
        TestStore open() {
            return new TestStore(volumes(2, 4, 1).ramBytes(20_000), new FaultyFileIo());
        }

        @Override
        int bodyBytesMax() {
            return 256 << 10;
        }
    }

    @Nested
    class RealFiles extends CacheStoreContract {
        @TempDir
        Path directory;

        @Override
        TestStore open() {
            StoreConfig.Builder config = StoreConfig.builder()
                    .volumes(List.of(new VolumeConfig(directory.resolve("volume"), 32 << 20)))
                    .ramBytes(1 << 20);
            return new TestStore(config, new SystemFileIo());
        }

        @Override
        int bodyBytesMax() {
            return 1 << 20;
        }
    }
}
