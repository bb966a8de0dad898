package io.millrace.launcher.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClassArchiveTest {
    @TempDir
    Path directory;

    @TempDir
    Path packaged;

    @TempDir
    Path javaHome;

    @TempDir
    Path otherJavaHome;

    private Path jar;

    @BeforeEach
    void jar() throws IOException {
        jar = Files.writeString(directory.resolve("a.jar"), "one");
    }

    @Test
    void isAnotherOneForAnotherJarOrJdkOrOption() throws IOException {
        String name = archive(List.of("-Da=1"), "17.0.15").useOptions().get(0);

        assertEquals(name, archive(List.of("-Da=1"), "17.0.15").useOptions().get(0));
        assertNotEquals(name, archive(List.of("-Da=2"), "17.0.15").useOptions().get(0));
        assertNotEquals(name, archive(List.of("-Da=1"), "17.0.16").useOptions().get(0));
        Files.writeString(jar, "longer");
        assertNotEquals(name, archive(List.of("-Da=1"), "17.0.15").useOptions().get(0));
    }

    @Test
    void isThereOnceItsRecordingWasGood() throws IOException {
        ClassArchive archive = archive(List.of(), "17");
        Path recording = recording(archive);
        assertFalse(archive.exists());
        Files.writeString(recording, "classes");
        archive.finishRecording(true);

        assertTrue(archive.exists());
        assertFalse(Files.exists(recording));
    }

    /** The JVM of Java 17 writes its archive with this mode. Root may open it in any way, {@code .ci/fresh} is not root. */
    @Test
    void keepsARecordingThatItsOwnerCannotWrite() throws IOException {
        ClassArchive archive = archive(List.of(), "17");
        Path recording = Files.writeString(recording(archive), "classes");
        Files.setPosixFilePermissions(recording, PosixFilePermissions.fromString("r--r--r--"));

        assertTrue(archive.finishRecording(true));
        assertTrue(archive.exists());
    }

    @Test
    void replacesUnusableArchives() throws IOException {
        ClassArchive old = archive(List.of(), "17");
        Files.writeString(recording(old), "classes");
        old.finishRecording(true);
        ClassArchive current = archive(List.of(), "18");
        Files.writeString(recording(current), "classes");
        current.finishRecording(true);

        assertFalse(old.exists());
        assertTrue(current.exists());
        assertTrue(Files.exists(jar));
    }

    @Test
    void thoseOfTwoJdksLieSideBySide() throws IOException {
        ClassArchive one = archive(javaHome, List.of(), "17");
        ClassArchive another = archive(otherJavaHome, List.of(), "25");
        ClassArchive sameRelease = archive(otherJavaHome, List.of(), "17");
        Files.writeString(recording(one), "classes");
        one.finishRecording(true);
        Files.writeString(recording(another), "classes");
        another.finishRecording(true);
        assertEquals(Set.of(jar, one.file(), another.file()), files());

        Files.writeString(recording(sameRelease), "classes");
        sameRelease.finishRecording(true);
        assertEquals(Set.of(jar, one.file(), sameRelease.file()), files(), "of each JDK the one that fits");
    }

    @Test
    void aRecordingLeavesThatOfALauncherWithALongerProcessIdAlone() throws IOException {
        ClassArchive archive = archive(List.of(), "17");
        Path other = recording(archive).resolveSibling(recording(archive).getFileName() + "0");
        Files.writeString(other, "half");
        archive.finishRecording(false);

        assertEquals(Set.of(jar, other), files());
    }

    @Test
    void leavesNothingOfARecordingThatFailed() throws IOException {
        ClassArchive archive = archive(List.of(), "17");
        Files.writeString(recording(archive), "half");
        archive.finishRecording(false);

        assertFalse(archive.exists());
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(List.of(jar), files.toList());
        }
    }

    @Test
    void isDeletedAfterACrashOfAJvmWithIt() throws IOException {
        ClassArchive archive = archive(List.of(), "17");
        Files.writeString(recording(archive), "classes");
        archive.finishRecording(true);
        assertTrue(archive.discard("a worker crashed"));
        assertFalse(archive.discard("a worker crashed"));

        assertFalse(archive.exists());
    }

    /** As in an installed package: files of root, and a service of another user. */
    @Test
    void isUnusedUntilANewRecordingWhenItCannotBeRemoved() throws IOException {
        ClassArchive archive = ClassArchive.in(packaged, directory, javaHome, List.of(), jar.toString(), "17", 17);
        Files.writeString(recording(archive), "classes");
        assertTrue(archive.finishRecording(true));
        // Root may remove any file, but no user may remove a directory that is not empty.
        Path name = Files.move(archive.file(), packaged.resolve("recorded"));
        Files.createDirectories(archive.file().resolve("not empty"));
        assertTrue(archive.discard("a worker crashed"));
        assertFalse(archive.exists());
        assertFalse(archive.discard("a worker crashed"));

        Files.delete(archive.file().resolve("not empty"));
        Files.delete(archive.file());
        Files.move(name, archive.file());
        assertTrue(archive.exists(), "another one has its name");
    }

    @Test
    void isTheSameForJarsWhoseTimeHasLostItsFraction() throws IOException {
        Files.setLastModifiedTime(jar, FileTime.fromMillis(1_700_000_000_123L));
        Path file = archive(List.of(), "17").file();
        Files.setLastModifiedTime(jar, FileTime.fromMillis(1_700_000_000_000L));
        assertEquals(file, archive(List.of(), "17").file());
        Files.setLastModifiedTime(jar, FileTime.fromMillis(1_700_000_001_000L));
        assertNotEquals(file, archive(List.of(), "17").file());
    }

    @Test
    void isRefusedByAJvmThatHasTheOptionButNoMapping() throws IOException {
        ClassArchive archive = archive(List.of(), "17");
        String option = archive.useOptions().get(0);
        String mapped = "7f00-7f01 r--p 0000 fd:00 1 " + archive.file() + "\n";

        assertTrue(
                archive.isRefusedBy(process("java\0" + option + "\0-cp\0", "7f00-7f01 r--p 0 fd:00 2 /lib/libc.so\n")));
        assertFalse(archive.isRefusedBy(process("java\0" + option + "\0-cp\0", mapped)));
        assertFalse(archive.isRefusedBy(process("java\0-cp\0", "")), "it was started before there was one");
        assertFalse(archive.isRefusedBy(directory.resolve("ended")));
    }

    private Path process(String commandLine, String maps) throws IOException {
        Path process = Files.createTempDirectory(directory, "process");
        Files.writeString(process.resolve("cmdline"), commandLine);
        Files.writeString(process.resolve("maps"), maps);
        return process;
    }

    @Test
    void aFailedOrSecondRecordingLeavesNoFiles() throws IOException {
        ClassArchive archive = archive(List.of(), "25");
        Path recording = recording(archive);
        Files.writeString(recording, "half");
        Files.writeString(recording.resolveSibling(recording.getFileName() + ".config"), "half");
        archive.finishRecording(false);
        assertEquals(Set.of(jar), files());

        Files.writeString(archive.file(), "of another launcher");
        Files.writeString(recording, "classes");
        archive.finishRecording(true);
        assertEquals(Set.of(jar, archive.file()), files());
        assertEquals("classes", Files.readString(archive.file()));
    }

    private Set<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.collect(Collectors.toSet());
        }
    }

    @Test
    void filesOfInterruptedRecordingsAreDeleted() throws IOException {
        ClassArchive archive = archive(List.of(), "17");
        Path own = Files.writeString(recording(archive), "half");
        String name = own.getFileName().toString();
        String dead = name.substring(0, name.lastIndexOf('.') + 1) + Integer.MAX_VALUE;
        Files.writeString(directory.resolve(dead), "half");
        Files.writeString(directory.resolve(dead + ".config"), "half");
        archive.deleteInterruptedRecordings();

        assertEquals(Set.of(jar, own), files());
    }

    @Test
    void isAnAotCacheFrom25On() throws IOException {
        assertTrue(archive(List.of(), "17").useOptions().get(0).startsWith("-XX:SharedArchiveFile="));
        ClassArchive cache = ClassArchive.in(directory, directory, javaHome, List.of(), jar.toString(), "25", 25);
        assertTrue(cache.useOptions().get(0).startsWith("-XX:AOTCache="));
        assertTrue(cache.recordOptions().get(0).startsWith("-XX:AOTCacheOutput="));
    }

    /** An archive of Java 17 contains the mark of each queued method. A method with the mark is never compiled. */
    @Test
    void noMethodIsQueuedForCompilationWhileClassesAreRecorded() throws IOException {
        assertTrue(archive(List.of(), "17").recordOptions().contains("-Xint"));
        ClassArchive cache = ClassArchive.in(directory, directory, javaHome, List.of(), jar.toString(), "25", 25);
        assertFalse(cache.recordOptions().contains("-Xint"));
    }

    private ClassArchive archive(List<String> options, String release) throws IOException {
        return archive(javaHome, options, release);
    }

    private ClassArchive archive(Path home, List<String> options, String release) throws IOException {
        return ClassArchive.in(directory, directory, home, options, jar.toString(), release, 17);
    }

    private static Path recording(ClassArchive archive) {
        String option = archive.recordOptions().get(0);
        return Path.of(option.substring(option.indexOf('=') + 1));
    }
}
