package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.VolumeConfig;
import io.millrace.store.engine.volume.StorageWatch;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.SystemFileIo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests storage that is deleted, moved or replaced under a running store: it goes offline, and the other volumes stay
 * online.
 */
class StorageWatchTest {
    @TempDir
    Path directory;

    private StoreConfig.Builder config() {
        return StoreConfig.builder()
                .volumes(List.of(
                        new VolumeConfig(directory.resolve("one"), 4 << 20),
                        new VolumeConfig(directory.resolve("two"), 4 << 20)))
                .segmentBytes(128 * 1024)
                .blockBytes(8192)
                .ramBytes(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"deleted", "moved", "replaced by a copy", "replaced by a file"})
    void storageIsTakenOut(String fault) throws IOException {
        SystemFileIo io = new SystemFileIo();
        try (TestStore test = new TestStore(config(), io).withoutCheck()) {
            StorageWatch watch = new StorageWatch(io, ((StoreEngine<TextHead>) test.store).volumes());
            watch.check();
            watch.check();
            assertEquals(
                    StoreStatistics.State.ONLINE,
                    test.store.statistics().volumes().get(0).state());
            inflict(fault, directory.resolve("one"));
            watch.check();
            List<StoreStatistics.Volume> volumes = test.store.statistics().volumes();
            assertEquals(StoreStatistics.State.OFFLINE, volumes.get(0).state());
            assertEquals(StoreStatistics.State.ONLINE, volumes.get(1).state());
            String error = String.valueOf(volumes.get(0).lastError());
            assertTrue(error.contains("while in use"), error);
            assertTrue(test.put("a", "h", TestStore.body(1, 100)));
            test.sync();
            assertEquals("h", test.head("a"));
        }
    }

    @Test
    void storageWithoutIdentityIsLeftAlone() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(1).ramBytes(0), io)) {
            StorageWatch watch = new StorageWatch(io, ((StoreEngine<TextHead>) test.store).volumes());
            watch.check();
            watch.check();
            assertEquals(
                    StoreStatistics.State.ONLINE,
                    test.store.statistics().volumes().get(0).state());
        }
    }

    private static void inflict(String fault, Path path) throws IOException {
        Path file = path.resolve("volume");
        switch (fault) {
            case "deleted" -> Files.delete(file);
            case "moved" -> Files.move(path, path.resolveSibling("elsewhere"));
            case "replaced by a copy" -> {
                Files.copy(file, path.resolve("copy"));
                Files.move(path.resolve("copy"), file, StandardCopyOption.REPLACE_EXISTING);
            }
            default -> {
                Files.move(path, path.resolveSibling("elsewhere"));
                Files.writeString(path, "a file");
            }
        }
    }
}
