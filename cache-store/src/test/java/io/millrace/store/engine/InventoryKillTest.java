package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ListedObject;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.SystemFileIo;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the inventory of a process that was killed while it wrote. */
class InventoryKillTest {
    @TempDir
    private Path directory;

    private Process start() throws IOException {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(List.of("-Xmx256m", "-cp", System.getProperty("java.class.path")));
        line.addAll(List.of(InventoryProcess.class.getName(), directory.toString()));
        return new ProcessBuilder(line)
                .redirectError(new File(directory.toString(), "stderr"))
                .start();
    }

    private static BufferedReader lines(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    @Tag("nightly")
    @RepeatedTest(3)
    void afterAnyKillTheStoreAnswersAtOnce() throws IOException, InterruptedException {
        afterAKillTheStoreAnswersAtOnceAndTheInventoryIsCompleted();
    }

    @Test
    void afterAKillTheStoreAnswersAtOnceAndTheInventoryIsCompleted() throws IOException, InterruptedException {
        Process process = start();
        try (BufferedReader lines = lines(process)) {
            assertEquals("open", lines.readLine());
            assertEquals("busy", lines.readLine());
        } finally {
            process.destroyForcibly().waitFor();
        }
        StoreConfig.Builder config = StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .ramBytes(1 << 20)
                .inventoryDelayNanos(0)
                .volumes(List.of(new VolumeConfig(directory, 16 << 20)));
        try (TestStore test = new TestStore(config, new SystemFileIo())) {
            assertEquals("head", test.head("http://host/7"));
            Map<String, ListedObject> listed = Listings.whole(test.store);
            assertEquals(test.store.statistics().volumes().get(0).entries(), listed.size());
            assertTrue(listed.size() > 2000, "listed=" + listed.size());
            assertEquals(200, listed.get("http://host/7").bodyLength());
        }
    }
}
