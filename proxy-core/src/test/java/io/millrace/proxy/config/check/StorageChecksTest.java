package io.millrace.proxy.config.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.StorageConfig.DirectWrites;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.problem.ConfigProblems;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the check of direct writes, with a file system that refuses them. */
class StorageChecksTest {
    @TempDir
    Path directory;

    private static List<String> problems(Path path, DirectWrites mode) {
        ConfigValues storage = ConfigValues.builder()
                .set(ConfigKeys.STORAGE_PATH, path)
                .set(ConfigKeys.STORAGE_SIZE, 1L << 20)
                .set(ConfigKeys.STORAGE_DIRECT_WRITES, mode)
                .build();
        ConfigValues all =
                ConfigValues.builder().set(ConfigKeys.STORAGE, List.of(storage)).build();
        ConfigProblems problems = new ConfigProblems();
        new StorageChecks(problems, new ConfigProblems.Place("m.yaml", 0, 0), refused -> "tmpfs").check(all);
        return problems.sorted().stream().map(ConfigProblem::text).toList();
    }

    @Test
    void onIsRefusedWithPathAndFileSystem() {
        Path path = directory.resolve("cache");
        assertEquals(
                List.of("m.yaml: storage[0].direct_writes: the file system of " + path
                        + " (tmpfs) refuses O_DIRECT; set auto or off"),
                problems(path, DirectWrites.ON));
        assertEquals(List.of(), problems(path, DirectWrites.AUTO));
        assertEquals(List.of(), problems(path, DirectWrites.OFF));
        assertEquals(List.of(), problems(Path.of("/dev/no-such-device"), DirectWrites.ON));
    }

    @Test
    void theProbeNamesAFileSystemWithoutDirectWritesAndLeavesNoFile() throws IOException {
        Path zip = directory.resolve("a.zip");
        try (FileSystem system = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
            Path inside = system.getPath("/missing/directory");
            assertEquals("zipfs", StorageChecks.DirectWriteProbe.refusingFileSystem(inside));
            try (Stream<Path> left = Files.list(system.getPath("/"))) {
                assertEquals(List.of(), left.toList());
            }
        }
        assertNull(StorageChecks.DirectWriteProbe.refusingFileSystem(Path.of("/proc/self")));
    }
}
