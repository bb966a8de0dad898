package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests the text that {@code config set --save} writes into the file, the parts of the file that it keeps, and the
 * files that it does not edit.
 */
class ConfigSaveTest extends ConfigChangesFixture {
    @Test
    void savesIntoTheFileAndKeepsTheRestOfIt() throws Exception {
        run(FILE);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        done(changes.set(Map.of("limits.connections", "2000"), false));
        ReloadReport report = done(changes.set(Map.of("limits.connections", "3000", "via.name", "edge1"), true));

        assertEquals(List.of("written to " + file.toRealPath()), report.notes());
        assertEquals(FILE.replace("1000", "3000") + "via:\n  name: edge1\n", Files.readString(file));
        assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals(3000, connections());
        assertEquals(List.of(), inspection.diff().pending());
        assertTrue(done(changes.reload()).settings().isEmpty());
        assertTrue(done(changes.reset(List.of())).settings().isEmpty(), "it is in the file, and not over it");
    }

    /** Java reads only attributes in the namespace user; the access list is set and checked with other programs. */
    @Test
    void keepsTheAccessListAndTheAttributesOfTheFile() throws Exception {
        run(FILE);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r-----"));
        UserDefinedFileAttributeView view = Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
        assumeTrue(isOnPath("python3"), "SKIPPED: python3, which sets the access list, is not installed");
        try {
            view.write("note", ByteBuffer.wrap("by hand".getBytes(StandardCharsets.UTF_8)));
        } catch (FileSystemException e) {
            abort("SKIPPED: this user can set no extended attributes on this file system: " + e.getMessage());
        }
        // The list grants r to the owner, user 12345 and the group, with mask r, and nothing to others:
        // linux/posix_acl_xattr.h.
        String list = "0200000001000400ffffffff020004003930000004000400ffffffff10000400ffffffff20000000ffffffff";
        python("os.setxattr(sys.argv[1], 'system.posix_acl_access', bytes.fromhex('" + list + "'))");

        assertTrue(done(changes.set(Map.of("limits.connections", "3000"), true)).ok());

        assertEquals(FILE.replace("1000", "3000"), Files.readString(file));
        assertEquals("r--r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        ByteBuffer note = ByteBuffer.allocate(100);
        Files.getFileAttributeView(file, UserDefinedFileAttributeView.class).read("note", note);
        assertEquals("by hand", new String(note.array(), 0, note.position(), StandardCharsets.UTF_8));
        assertEquals(list, python("print(os.getxattr(sys.argv[1], 'system.posix_acl_access').hex())"));
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(
                    List.of(),
                    left.filter(path -> path.toString().endsWith("-new")).toList());
        }
    }

    private static boolean isOnPath(String command) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                .anyMatch(path -> Files.isExecutable(Path.of(path, command)));
    }

    private String python(String statement) throws IOException, InterruptedException {
        Process python = new ProcessBuilder("python3", "-c", "import os, sys\n" + statement, file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, python.waitFor(), said);
        return said.strip();
    }

    @Test
    void savesThroughALinkAndLeavesItOne() throws Exception {
        Path real = Files.writeString(directory.resolve("real.yaml"), FILE);
        file = Files.createSymbolicLink(directory.resolve("link.yaml"), real);
        launch(Map.of());
        assertTrue(done(changes.set(Map.of("limits.connections", "3000"), true)).ok());

        assertTrue(Files.isSymbolicLink(file));
        assertEquals(FILE.replace("1000", "3000"), Files.readString(real));
    }

    @Test
    void doesNotSaveIntoAFileThatDiffersFromTheRunningConfiguration() throws Exception {
        run(FILE);
        Files.writeString(file, FILE + "# more\n");
        assertNotSaved("has changed since it was loaded; reload first");
        done(changes.reload());
        done(changes.set(Map.of("via.name", "edge1"), false));
        done(changes.rollback(1));
        assertNotSaved("configuration 1 of the history is in use instead of the file");
        assertEquals(FILE + "# more\n", Files.readString(file));
    }

    @Test
    void doesNotSaveSettingsOfTheCommandLine() throws Exception {
        run(FILE);
        changes.close();
        launch(Map.of("limits.connections", "7"));
        assertNotSaved("is set on the command line, which overrides the file");
    }

    @Test
    void doesNotSaveWhereTheFileIsNotEditedForCertain() throws Exception {
        run(FILE.replace("connections: 1000 # of two", "connections: &n 1000"));
        assertNotSaved(file + ":5:3: has an anchor or an alias; change it by hand, then reload");
        assertEquals(1000, connections());
    }

    private void assertNotSaved(String why) throws IOException {
        String before = Files.readString(file);
        ReloadReport report = done(changes.set(Map.of("limits.connections", "3000"), true));
        assertFalse(report.ok());
        assertTrue(report.settings().get(0).detail().contains(why), report::toString);
        assertEquals(before, Files.readString(file));
        try (var names = Files.list(directory)) {
            assertTrue(names.noneMatch(name -> name.toString().endsWith("-new")));
        }
    }

    @Test
    void writesNothingWhenTheWorkerDoesNotTakeIt() throws Exception {
        run(FILE);
        worker.obstacle = "the worker is starting; try again";
        assertNotSaved("the worker is starting; try again");
    }

    @Test
    void aFileThatChangesWhileItIsSavedStaysAsItIs() throws Exception {
        run(FILE);
        worker.gate = new CompletableFuture<>();
        CompletionStage<ReloadReport> change = changes.set(Map.of("limits.connections", "3000"), true);
        while (worker.reloaded.isEmpty()) {
            Thread.onSpinWait();
        }
        Files.writeString(file, FILE + "# somebody else\n");
        worker.gate.complete(null);
        ReloadReport report = done(change);

        assertFalse(report.ok());
        assertTrue(
                report.notes().get(0).startsWith("the change is in use, but could not be written to the file"),
                report::toString);
        assertEquals(FILE + "# somebody else\n", Files.readString(file));
    }

    @Test
    void twoLaunchersOfOneFileDoNotWriteEachOthersChange() throws Exception {
        run(FILE);
        worker.gate = new CompletableFuture<>();
        CannedWorker another = new CannedWorker();
        another.gate = new CompletableFuture<>();
        try (ConfigChanges others = new ConfigChanges(launched("other", Map.of(), another))) {
            CompletionStage<ReloadReport> mine = changes.set(Map.of("limits.connections", "3000"), true);
            while (worker.reloaded.isEmpty()) {
                Thread.onSpinWait();
            }
            CompletionStage<ReloadReport> theirs = others.set(Map.of("limits.connections", "4000"), true);
            while (another.reloaded.isEmpty()) {
                Thread.onSpinWait();
            }
            worker.gate.complete(null);
            assertEquals(List.of("written to " + file.toRealPath()), done(mine).notes());
            assertEquals(FILE.replace("1000", "3000"), Files.readString(file));
            another.gate.complete(null);
            assertEquals(
                    List.of(
                            "the change is in use, but could not be written to the file, so the next reload reverts it: "
                                    + file.toRealPath() + " has changed since it was loaded; reload first"),
                    done(theirs).notes());
            assertEquals(FILE.replace("1000", "3000"), Files.readString(file));
        }
    }

    @Test
    void reportsTheProblemOfAFileThatCannotBeSaved() throws Exception {
        run(FILE);
        Files.delete(file);
        ReloadReport report = done(changes.set(Map.of("limits.connections", "3000"), true));
        assertEquals(file + ": no such file", report.settings().get(0).detail());
    }
}
