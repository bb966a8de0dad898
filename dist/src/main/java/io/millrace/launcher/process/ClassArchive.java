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
 * The archive of the classes that a worker loads, which halves the start time of the next worker. It uses class data
 * sharing up to Java 24, and an AOT cache from Java 25 on. The JVM itself rejects an archive that does not match, and
 * starts without it.
 *
 * <p>The file name contains two checksums. The first covers the path of the JDK, so that launchers with different JDKs
 * can share a directory. The second covers everything that must match, so that a new JDK or a new jar leads to a new
 * archive.
 *
 * <p>Immutable.
 */
final class ClassArchive {
    private static final Logger LOG = LoggerFactory.getLogger(ClassArchive.class);

    /** First JDK release with an option that both records and writes an AOT cache. */
    private static final int FEATURE_WITH_AOT_CACHE = 25;

    private static final String PREFIX = "worker-";
    private static final String SUFFIX = ".archive";
    private static final String REFUSED = ".refused";

    /**
     * Name of an unfinished recording, with the process id of its launcher. From Java 25 on, the JVM creates a second
     * file beside it.
     */
    private static final Pattern UNFINISHED = Pattern.compile("\\..*\\.archive\\.(\\d{1,18})(\\..*)?");

    private final Path file;

    /** Common prefix of the names of this JDK's archives. */
    private final String prefix;

    private final int feature;

    /** File that marks the archive as unusable for this launcher, if the archive cannot be deleted. */
    private final Path refusal;

    private ClassArchive(Path file, Path refusal, String prefix, int feature) {
        this.file = file;
        this.refusal = refusal;
        this.prefix = prefix;
        this.feature = feature;
    }

    /**
     * Returns the archive that matches these options.
     *
     * @param directory directory of the archive
     * @param own directory that is writable for this launcher, for the marks of archives that it cannot delete
     * @param javaHome directory of the JDK
     * @param jvm the JVM's command line up to its main class
     * @param release text that identifies the build of the JDK
     */
    static ClassArchive in(
            Path directory, Path own, Path javaHome, List<String> jvm, String classPath, String release, int feature)
            throws IOException {
        CRC32C home = new CRC32C();
        home.update(place(javaHome).toString().getBytes(StandardCharsets.UTF_8));
        String prefix = PREFIX + Long.toHexString(home.getValue()) + "-";
        CRC32C checksum = new CRC32C();
        checksum.update((jvm + release).getBytes(StandardCharsets.UTF_8));
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            checksum.update(stamp(Path.of(entry)).getBytes(StandardCharsets.UTF_8));
        }
        String name = prefix + Long.toHexString(checksum.getValue()) + SUFFIX;
        return new ClassArchive(directory.resolve(name), own.resolve(name + REFUSED), prefix, feature);
    }

    /** The real path of the JDK. A missing JDK is reported when the worker starts. */
    private static Path place(Path javaHome) {
        try {
            return javaHome.toRealPath();
        } catch (IOException e) {
            return javaHome.toAbsolutePath();
        }
    }

    /**
     * Identifies the version of a jar. Its time is in whole seconds, as the JVM compares it: layers of images keep no
     * fractions.
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
                    && !(Files.exists(refusal) && Files.readString(refusal).equals(stamp(file)));
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

    /** JVM options that record the archive, and write it at exit. */
    List<String> recordOptions() {
        return List.of(
                feature >= FEATURE_WITH_AOT_CACHE
                        ? "-XX:AOTCacheOutput=" + unfinished()
                        : "-XX:ArchiveClassesAtExit=" + unfinished());
    }

    /**
     * Deletes the archive, or marks it as unusable.
     *
     * @param why reason, for the log: completes the sentence "… is discarded, because"
     * @return whether there was a usable archive
     */
    boolean discard(String why) {
        if (!exists()) {
            return false;
        }
        try {
            Files.delete(file);
        } catch (IOException e) {
            return refuse(why, e);
        }
        LOG.warn(
                "the class archive {} is discarded, because {}: workers start slower until a new archive is recorded",
                file,
                why);
        return true;
    }

    /**
     * Marks this archive as unusable, if it cannot be deleted because a package or another user owns it. The mark holds
     * the archive's modification time, so a newly recorded one is used again.
     */
    private boolean refuse(String why, IOException obstacle) {
        try {
            Files.writeString(refusal, stamp(file));
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
     * Returns true if the JVM of {@code process} has the archive in its options but has not mapped it. The JVM does not
     * report that itself.
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

    /** Removes the files of recordings that were killed. */
    void sweep() {
        try (DirectoryStream<Path> left =
                Files.newDirectoryStream(file.getParent(), "." + PREFIX + "*" + SUFFIX + ".*")) {
            for (Path unfinished : left) {
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

    /** Forces the file to disk before it is renamed, so that it is complete after a power failure. */
    private static void synchronize(Path written) throws IOException {
        try (FileChannel channel = FileChannel.open(written, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
    }

    /**
     * Finishes a recording. A {@code good} one replaces the archive, and the outdated archives of this JDK are deleted.
     *
     * @return whether the recording is now the archive
     */
    boolean settle(boolean good) {
        try {
            if (!good || !Files.exists(unfinished())) {
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
        try (DirectoryStream<Path> left =
                Files.newDirectoryStream(file.getParent(), unfinished().getFileName() + ".*")) {
            Files.deleteIfExists(unfinished());
            for (Path unfinished : left) {
                Files.deleteIfExists(unfinished);
            }
        } catch (IOException e) {
            LOG.debug("the temporary files of a recording cannot be deleted: {}", e.getMessage());
        }
    }
}
