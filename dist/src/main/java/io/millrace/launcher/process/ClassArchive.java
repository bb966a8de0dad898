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
 * The archive of the classes that a worker loads, so that the next one starts in half the time: class data sharing up to
 * Java 24, an AOT cache from 25 on. The JVM itself refuses an archive that does not fit, and starts without it; the name
 * carries a checksum of the JDK's place, so that launchers of several JDKs can share a directory, and one of all that must fit, so that a
 * new JDK or a new jar brings a new archive.
 *
 * <p>Immutable.
 */
final class ClassArchive {
    private static final Logger LOG = LoggerFactory.getLogger(ClassArchive.class);

    /** From this release on one flag records and writes an AOT cache. */
    private static final int FEATURE_WITH_AOT_CACHE = 25;

    private static final String PREFIX = "worker-";
    private static final String SUFFIX = ".archive";
    private static final String REFUSED = ".refused";

    /** Of a recording by a launcher with that process id; from 25 on the JVM makes another file beside it. */
    private static final Pattern UNFINISHED = Pattern.compile("\\..*\\.archive\\.(\\d{1,18})(\\..*)?");

    private final Path file;

    /** What the names of this JDK's archives begin with. */
    private final String prefix;

    private final int feature;

    /** Says that this launcher uses the archive no more, where it cannot remove it. */
    private final Path refusal;

    private ClassArchive(Path file, Path refusal, String prefix, int feature) {
        this.file = file;
        this.refusal = refusal;
        this.prefix = prefix;
        this.feature = feature;
    }

    /**
     * The archive that fits.
     *
     * @param directory where it lies
     * @param own where this launcher can write, for what it knows of an archive that it cannot remove
     * @param javaHome where the JDK lies
     * @param jvm the JVM's command line up to its main class
     * @param release what tells one build of the JDK from another
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

    /** One that is not there is for the start to complain of. */
    private static Path place(Path javaHome) {
        try {
            return javaHome.toRealPath();
        } catch (IOException e) {
            return javaHome.toAbsolutePath();
        }
    }

    /** In whole seconds, as the JVM compares it: layers of images keep no more. */
    private static String stamp(Path jar) throws IOException {
        return jar + " " + Files.size(jar) + " "
                + Files.getLastModifiedTime(jar).to(TimeUnit.SECONDS);
    }

    Path file() {
        return file;
    }

    /** Whether there is one to use. */
    boolean exists() {
        try {
            return Files.exists(file)
                    && !(Files.exists(refusal) && Files.readString(refusal).equals(stamp(file)));
        } catch (IOException e) {
            LOG.debug("{} is not used: {}", file, e.getMessage());
            return false;
        }
    }

    /** Where a recording goes before it is complete. */
    private Path unfinished() {
        return file.resolveSibling(
                "." + file.getFileName() + "." + ProcessHandle.current().pid());
    }

    /** Options of a JVM that uses the archive. */
    List<String> useOptions() {
        return feature >= FEATURE_WITH_AOT_CACHE
                ? List.of("-XX:AOTCache=" + file, "-Xlog:aot*=off", "-Xlog:cds*=off")
                : List.of("-XX:SharedArchiveFile=" + file, "-Xlog:cds*=off", "-Xlog:class+path=off");
    }

    /** Options of a JVM that records the archive, and writes it when it exits. */
    List<String> recordOptions() {
        return List.of(
                feature >= FEATURE_WITH_AOT_CACHE
                        ? "-XX:AOTCacheOutput=" + unfinished()
                        : "-XX:ArchiveClassesAtExit=" + unfinished());
    }

    /**
     * No other JVM uses it.
     *
     * @param why behind "is given up, since"
     * @return whether there was one
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
        LOG.warn("{} is given up, since {}: workers start slower until another one is recorded", file, why);
        return true;
    }

    /**
     * Notes that this archive is not used, where it cannot be deleted because a package or another user owns it. The note holds
     * the time of the archive, so a newly recorded one is used again.
     */
    private boolean refuse(String why, IOException obstacle) {
        try {
            Files.writeString(refusal, stamp(file));
        } catch (IOException e) {
            LOG.error("{} is of no use, since {}, and cannot be removed: {}", file, why, obstacle.getMessage());
            return false;
        }
        LOG.warn(
                "{} is not used any more, since {}, and cannot be removed ({}): workers start slower until another one is"
                        + " recorded, as millrace archive --force does",
                file,
                why,
                obstacle.toString());
        return true;
    }

    /**
     * Whether the JVM that runs as {@code process} was told to use the archive, and has not mapped it. The JVM does not
     * report that itself.
     *
     * @param process its directory in {@code /proc}; false where that cannot be read
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

    /** Removes what recordings left behind that were killed. */
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
            LOG.debug("what recordings left behind stays: {}", e.getMessage());
        }
    }

    /** Whoever finds the name after a power failure finds all of it. */
    private static void synchronize(Path written) throws IOException {
        try (FileChannel channel = FileChannel.open(written, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
    }

    /**
     * The recording has ended: when it is {@code good} it takes its place, and that of this JDK's archives which fit no more.
     *
     * @return whether it has taken it
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
            LOG.debug("what a recording left behind stays: {}", e.getMessage());
        }
    }
}
