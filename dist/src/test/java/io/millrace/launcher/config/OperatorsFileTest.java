package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the result of a replaced and of an unchanged file. */
class OperatorsFileTest {
    private static final String TEXT =
            "listen: ['127.0.0.1:0']\nremap: [{map: /, to: http://origin.example/}]\nlimits: {connections: 1000}\n";
    private static final ReloadReport APPLIED = new ReloadReport(true, List.of(), List.of());

    @TempDir
    Path directory;

    private OperatorsFile edited(OperatorsFile.DirectorySync sync) throws Exception {
        RunningConfig running = new CannedRun().of(directory, TEXT);
        Map<String, String> settings = Map.of("limits.connections", "2000");
        OperatorsFile file =
                OperatorsFile.open(running.reader(), running.current(), Set.of("limits.connections"), "x", sync);
        file.edit(settings);
        file.prepare();
        return file;
    }

    @Test
    void aFileThatIsReplacedIsNotCalledUnwrittenWhenItsDirectoryCannotBeSynchronized() throws Exception {
        try (OperatorsFile file = edited(synced -> {
            throw new IOException("Input/output error");
        })) {
            ReloadReport report = ConfigChanges.writeFile(APPLIED, file);

            assertEquals(TEXT.replace("1000", "2000"), Files.readString(file.path()));
            assertTrue(report.ok());
            assertEquals(
                    List.of("written to " + file.path()
                            + "; the directory of the file could not be synced to disk,"
                            + " so a power failure may restore the old file: " + directory.toRealPath()
                            + ": Input/output error"),
                    report.notes());
        }
    }

    @Test
    void theDirectoryOfTheFileIsSynchronized() throws Exception {
        Path[] synced = {null};
        try (OperatorsFile file = edited(forced -> synced[0] = forced)) {
            assertEquals(
                    List.of("written to " + file.path()),
                    ConfigChanges.writeFile(APPLIED, file).notes());
            assertEquals(directory.toRealPath(), synced[0]);
        }
    }

    @Test
    void aFileThatIsNotReplacedIsCalledUnwritten() throws Exception {
        try (OperatorsFile file = edited(forced -> {})) {
            Files.writeString(file.path(), TEXT + "# somebody else\n");
            ReloadReport report = ConfigChanges.writeFile(APPLIED, file);

            assertFalse(report.ok());
            assertTrue(
                    report.notes().get(0).startsWith("the change is in use, but could not be written to the file"),
                    report::toString);
        }
    }
}
