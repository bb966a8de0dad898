package io.millrace.launcher.process;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file with the classes that a worker loads. It halves the start time of later workers. Up to Java 24 it is an
 * archive of class data sharing (CDS), from Java 25 on an AOT cache. The JVM rejects an archive that does not match,
 * and starts without it.
 *
 * <p>The file name contains two checksums. The first covers the path of the JDK, because launchers with different JDKs
 * may share a directory. The second covers the JVM options, the JDK version and the jars. A change of these therefore
 * leads to a new archive.
 *
 * <p>Immutable.
 */
final class ClassArchive {
    private static final Logger LOG = LoggerFactory.getLogger(ClassArchive.class);

    /** First JDK release with an option that both records and writes an AOT cache. */
    private static final int FEATURE_WITH_AOT_CACHE = 25;

    private static final String PREFIX = "worker-";
    private static final String SUFFIX = ".archive";
    private static final String UNUSABLE_SUFFIX = ".refused";

    /**
     * Name of an unfinished recording, with the process id of its launcher. From Java 25 on, the JVM creates a second
     * file with a longer name.
     */
    private static final Pattern UNFINISHED = Pattern.compile("\\..*\\.archive\\.(\\d{1,18})(\\..*)?");

    private final Path file;

    /** Prefix of the file names of all archives of this JDK. */
    private final String prefix;

    /** Feature release of the JDK, such as 21. */
    private final int feature;

    /** File that marks the archive as unusable. Needed if this launcher cannot delete the archive. */
    private final Path unusableMark;

    private ClassArchive(Path file, Path unusableMark, String prefix, int feature) {
        this.file = file;
        this.unusableMark = unusableMark;
        this.prefix = prefix;
        this.feature = feature;
    }

    /**
     * Returns the archive that matches these options.
     *
     * @param directory directory of the archive
     * @param markDirectory directory that this launcher can write, for the files that mark an archive as unusable
     * @param javaHome directory of the JDK
     * @param jvm the JVM's command line up to its main class
     * @param release text that identifies the build of the JDK
     */
    static ClassArchive in(
            Path directory,
            Path markDirectory,
            Path javaHome,
            List<String> jvm,
            String classPath,
            String release,
            int feature)
            throws IOException {
        CRC32C home = new CRC32C();
        home.update(realPath(javaHome).toString().getBytes(StandardCharsets.UTF_8));
        String prefix = PREFIX + Long.toHexString(home.getValue()) + "-";
        CRC32C checksum = new CRC32C();
        checksum.update((jvm + release).getBytes(StandardCharsets.UTF_8));
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            checksum.update(stamp(Path.of(entry)).getBytes(StandardCharsets.UTF_8));
        }
        String name = prefix + Long.toHexString(checksum.getValue()) + SUFFIX;
        return new ClassArchive(
                directory.resolve(name), markDirectory.resolve(name + UNUSABLE_SUFFIX), prefix, feature);
    }

    /** Returns the real path of the JDK. A missing JDK is reported later, when the worker starts. */
    private static Path realPath(Path javaHome) {
        try {
            return javaHome.toRealPath();
        } catch (IOException e) {
            return javaHome.toAbsolutePath();
        }
    }

    /**
     * Returns a text that identifies the version of a jar. Its modification time is in whole seconds, because container
     * images store no fractions.
     */
    private static String stamp(Path jar) throws IOException {
        return jar + " " + Files.size(jar) + " "
                + Files.getLastModifiedTime(jar).to(TimeUnit.SECONDS);
    }

    Path file() {
        return file;
    }

    /** Returns true if a usable archive exists. */
    boolean exists() {
        try {
            return Files.exists(file)
                    && !(Files.exists(unusableMark)
                            && Files.readString(unusableMark).equals(stamp(file)));
        } catch (IOException e) {
            LOG.debug("the class archive {} cannot be checked and is not used: {}", file, e.getMessage());
            return false;
        }
    }

    /** The temporary file of a recording that is not complete. */
    private Path unfinished() {
        return file.resolveSibling(
                "." + file.getFileName() + "." + ProcessHandle.current().pid());
    }

    /** JVM options that use the archive. */
    List<String> useOptions() {
        return feature >= FEATURE_WITH_AOT_CACHE
                ? List.of("-XX:AOTCache=" + file, "-Xlog:aot*=off", "-Xlog:cds*=off")
                : List.of("-XX:SharedArchiveFile=" + file, "-Xlog:cds*=off", "-Xlog:class+path=off");
    }

    /**
     * JVM options that record the archive, and write it at exit. The JVM that records a CDS archive only interprets
     * code. Otherwise the archive of Java 17 would contain the mark "queued for compilation" of every method that waits
     * for the compiler at exit, and a worker with this archive would never compile these methods.
     */
    List<String> recordOptions() {
        return feature >= FEATURE_WITH_AOT_CACHE
                ? List.of("-XX:AOTCacheOutput=" + unfinished())
                : List.of("-XX:ArchiveClassesAtExit=" + unfinished(), "-Xint");
    }

    /**
     * Deletes the archive, or marks it as unusable.
     *
     * @param why reason for the log, which follows the word "because"
     * @return false if there was no usable archive, or if it can be neither deleted nor marked
     */
    boolean discard(String why) {
        if (!exists()) {
            return false;
        }
        try {
            Files.delete(file);
        } catch (IOException e) {
            return markUnusable(why, e);
        }
        LOG.warn(
                "the class archive {} is discarded, because {}: workers start slower until a new archive is recorded",
                file,
                why);
        return true;
    }

    /**
     * Marks this archive as unusable. This launcher cannot delete it, because a package or another user owns it. The
     * mark contains size and modification time of the file, so a newly recorded archive is used again.
     */
    private boolean markUnusable(String why, IOException obstacle) {
        try {
            Files.writeString(unusableMark, stamp(file));
        } catch (IOException e) {
            LOG.error(
                    "the class archive {} cannot be used, because {}, and cannot be deleted: {}",
                    file,
                    why,
                    obstacle.getMessage());
            return false;
        }
        LOG.warn(
                "the class archive {} is no longer used, because {}, and cannot be deleted ({}): workers start slower until a"
                        + " new archive is recorded with millrace archive --force",
                file,
                why,
                obstacle.toString());
        return true;
    }

    /**
     * Returns true if a running JVM should use the archive but has not mapped it. The JVM itself does not report this.
     *
     * @param process directory of the process in {@code /proc}; the result is false if it cannot be read
     */
    boolean isRefusedBy(Path process) {
        try {
            String line = Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
            if (!List.of(line.split("\0", -1)).contains(useOptions().get(0))) {
                return false;
            }
            try (Stream<String> maps = Files.lines(process.resolve("maps"), StandardCharsets.ISO_8859_1)) {
                String name = String.valueOf(file.getFileName());
                return maps.noneMatch(mapped -> mapped.contains(name));
            }
        } catch (IOException | UncheckedIOException e) {
            return false;
        }
    }

    /** Deletes the temporary files of recordings that were killed. */
    void deleteInterruptedRecordings() {
        try (DirectoryStream<Path> leftovers =
                Files.newDirectoryStream(file.getParent(), "." + PREFIX + "*" + SUFFIX + ".*")) {
            for (Path unfinished : leftovers) {
                Matcher matcher = UNFINISHED.matcher(String.valueOf(unfinished.getFileName()));
                if (matcher.matches()
                        && ProcessHandle.of(Long.parseLong(matcher.group(1))).isEmpty()) {
                    Files.deleteIfExists(unfinished);
                }
            }
        } catch (IOException e) {
            LOG.debug("files of interrupted recordings cannot be deleted: {}", e.getMessage());
        }
    }

    /**
     * Forces a file to disk. After a power failure, a renamed file is complete only then. Opens the file for reading,
     * because the JVM of Java 17 writes archives without write permission, even for their owner.
     */
    private static void synchronize(Path written) throws IOException {
        try (FileChannel channel = FileChannel.open(written, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /**
     * Finishes a recording. A successful recording becomes the archive, and older archives of this JDK are deleted.
     *
     * @param successful whether the recording JVM has exited without an error
     * @return whether the recording is now the archive
     */
    boolean finishRecording(boolean successful) {
        try {
            if (!successful || !Files.exists(unfinished())) {
                LOG.info("no class archive was recorded: workers start slower");
                return false;
            }
            synchronize(unfinished());
            Files.move(unfinished(), file, StandardCopyOption.ATOMIC_MOVE);
            try (DirectoryStream<Path> archives = Files.newDirectoryStream(file.getParent(), prefix + "*" + SUFFIX)) {
                for (Path archive : archives) {
                    if (!archive.equals(file)) {
                        Files.deleteIfExists(archive);
                    }
                }
            }
            return true;
        } catch (IOException e) {
            LOG.info("no class archive was recorded ({}): workers start slower", e.getMessage());
            return false;
        } finally {
            removeUnfinished();
        }
    }

    private void removeUnfinished() {
        try (DirectoryStream<Path> leftovers =
                Files.newDirectoryStream(file.getParent(), unfinished().getFileName() + ".*")) {
            Files.deleteIfExists(unfinished());
            for (Path unfinished : leftovers) {
                Files.deleteIfExists(unfinished);
            }
        } catch (IOException e) {
            LOG.debug("the temporary files of a recording cannot be deleted: {}", e.getMessage());
        }
    }
}
