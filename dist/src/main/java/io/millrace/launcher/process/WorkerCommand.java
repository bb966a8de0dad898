package io.millrace.launcher.process;

import io.millrace.launcher.state.StateDirectory;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.FileKeys;
import io.millrace.proxy.config.value.FileMode;
import io.millrace.worker.TrainingRun;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The command line of the worker's JVM. Immutable.
 *
 * @param home directory of the installed product; null if there is none, as in tests
 * @param config the configuration with heap size, RAM tier size and JDK
 * @param mainClass main class of the worker
 */
public record WorkerCommand(@Nullable Path home, ProxyConfig config, StateDirectory state, String mainClass)
        implements WorkerStarter {
    private static final Path SHELL = Path.of("/bin/sh");
    private static final File DEV_NULL = new File("/dev/null");

    private static final Logger LOG = LoggerFactory.getLogger(WorkerCommand.class);

    /**
     * Increase of the worker's {@code oom_score_adj} (proc(5)) over that of the launcher. For the OOM killer, this has
     * the same effect as if the worker used a fifth of the machine's memory more.
     */
    private static final int OOM_SCORE_INCREASE = 200;

    private static final int OOM_SCORE_MAX = 1000;

    private static final long MIB = 1024 * 1024;

    /**
     * Direct memory in bytes besides the RAM tier. Used for network buffers, queues of the store, and unused space in
     * pools.
     */
    private static final long DIRECT_BESIDES_RAM_TIER = 512 * MIB;

    /** Direct memory in bytes that the worker's pool reserves. It is used after an allocation has failed. */
    private static final long DIRECT_IN_RESERVE = 16 * MIB;

    /**
     * Environment variables for malloc of the GNU C library. They make malloc use mmap for the chunks of Netty's pools,
     * of 1 MiB and more. By default malloc soon allocates such chunks in its arenas, which become fragmented. Other C
     * libraries ignore the variables.
     */
    private static final Map<String, String> MALLOC =
            Map.of("MALLOC_MMAP_THRESHOLD_", "524288", "MALLOC_ARENA_MAX", "4");

    /**
     * JDK packages that are opened for Netty's access to direct memory. With {@code -cp}, the manifest of a jar cannot
     * open them.
     */
    private static final List<String> OPENS = List.of("java.base/java.nio", "java.base/jdk.internal.misc");

    /** First JDK release with which Netty uses Unsafe only if a JVM option permits it. */
    private static final int FEATURE_RESTRICTING_UNSAFE = 24;

    private static final Pattern RELEASE_VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)[^\"]*\"");

    /** Versions of the JDK with {@code TrimNativeHeapInterval}: from 17.0.9, 21.0.1 and 22 on. */
    private static final Pattern TRIMMING_VERSIONS = Pattern.compile(
            "JAVA_VERSION=\"" + "(?:17[.]0[.](?:9|[1-9][0-9])|21[.]0[.][1-9]|2[2-9]|[3-9][0-9])[^\"]*\"");

    /** Option that returns memory freed by the JIT compilers to the kernel, every 120,000 ms. */
    private static final String TRIM_OPTION = "-XX:TrimNativeHeapInterval=120000";

    @Override
    public Process start(long generation) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(withUmask(line(generation), ownUmask()));
        builder.redirectInput(Redirect.from(DEV_NULL));
        builder.redirectOutput(Redirect.INHERIT);
        builder.redirectError(Redirect.INHERIT);
        setMallocVariables(builder.environment());
        Process worker = builder.start();
        raiseOomScore(worker.pid());
        return worker;
    }

    @Override
    public boolean discardArchive() {
        ClassArchive archive = archiveOrNull();
        return archive != null && archive.discard("a worker with the archive did not start");
    }

    @Override
    public void becameReady(ProcessHandle worker) {
        ClassArchive archive = archiveOrNull();
        if (archive != null && archive.isRefusedBy(Path.of("/proc", Long.toString(worker.pid())))) {
            archive.discard("the JVM in " + javaHome() + " does not accept it");
        }
    }

    /** The archive file, present or not; null if no archive can be recorded. */
    @Nullable
    public Path archiveFile() {
        ClassArchive archive = archiveOrNull();
        return archive == null ? null : archive.file();
    }

    private @Nullable ClassArchive archiveOrNull() {
        try {
            return archive(fixedOptions(feature(javaHome())));
        } catch (IOException e) {
            LOG.warn("the path of the class archive cannot be determined: {}", e.getMessage());
            return null;
        }
    }

    /**
     * Returns a shell command that sets the umask and then executes the worker. A JVM cannot set its own umask. Returns
     * {@code worker} if the umask need not change.
     */
    List<String> withUmask(List<String> worker, int ownUmask) {
        int umask = config.values().get(FileKeys.MODE).umask();
        if (umask == ownUmask || !Files.isExecutable(SHELL)) {
            return worker;
        }
        List<String> line = new ArrayList<>();
        line.add(SHELL.toString());
        line.addAll(List.of("-c", "umask " + FileMode.text(umask) + " && exec \"$@\"", "worker"));
        line.addAll(worker);
        return line;
    }

    /** The umask of this process according to proc(5); -1 if unknown. */
    private static int ownUmask() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("Umask:")) {
                    return Integer.parseInt(line.substring("Umask:".length()).strip(), 8);
                }
            }
        } catch (IOException | NumberFormatException e) {
            LOG.debug("the umask cannot be read: {}", e.getMessage());
        }
        return -1;
    }

    /**
     * Raises the OOM score of the worker. When memory is exhausted, the kernel then kills the worker and not the
     * launcher. The launcher then restarts the worker.
     */
    private static void raiseOomScore(long pid) {
        try {
            int ownScore = Integer.parseInt(
                    Files.readString(Path.of("/proc/self/oom_score_adj")).strip());
            Path score = Path.of("/proc", Long.toString(pid), "oom_score_adj");
            Files.writeString(score, Integer.toString(Math.min(OOM_SCORE_MAX, ownScore + OOM_SCORE_INCREASE)));
        } catch (IOException | NumberFormatException e) {
            LOG.debug("the OOM score of the worker cannot be raised: {}", e.getMessage());
        }
    }

    static void setMallocVariables(Map<String, String> environment) {
        MALLOC.forEach(environment::putIfAbsent);
    }

    List<String> line(long generation) throws IOException {
        Path javaHome = javaHome();
        List<String> fixed = fixedOptions(feature(javaHome));
        ClassArchive archive = archive(fixed);
        List<String> line = jvmCommand(fixed);
        if (archive != null && archive.exists()) {
            line.addAll(archive.useOptions());
        }
        line.addAll(List.of("-cp", classPath(), mainClass));
        line.add(state.control().directory().toString());
        line.add(state.state().toString());
        line.add(state.cache().toString());
        line.add(state.log().toString());
        line.add(Long.toString(generation));
        line.add(Long.toString(config.worker().heartbeatIntervalMillis() * 1_000_000));
        return line;
    }

    /**
     * Starts a JVM with the lowest priority, which records the class archive for later workers.
     *
     * @return null if the archive exists, or cannot be recorded because the classes are not in jars
     */
    @Nullable
    Process startRecording(Path directory) throws IOException {
        List<String> fixed = fixedOptions(feature(javaHome()));
        ClassArchive archive = archive(fixed);
        if (archive == null || archive.exists()) {
            return null;
        }
        archive.deleteInterruptedRecordings();
        List<String> line = new ArrayList<>(List.of("nice", "-n", "19"));
        line.addAll(recordingCommand(archive, fixed, directory));
        Process process = new ProcessBuilder(line)
                .redirectInput(Redirect.from(DEV_NULL))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
        process.onExit().thenAccept(ended -> archive.finishRecording(ended.exitValue() == 0));
        return process;
    }

    private List<String> recordingCommand(ClassArchive archive, List<String> fixed, Path directory) {
        List<String> line = jvmCommand(fixed);
        line.addAll(archive.recordOptions());
        line.addAll(List.of("-cp", classPath(), TrainingRun.class.getName(), directory.toString()));
        return line;
    }

    /**
     * Records the archive. Blocks until the recording has ended.
     *
     * @param directory temporary directory of the recording
     * @param messages file for error messages
     * @return whether the archive exists now
     */
    public boolean record(Path directory, Path messages) throws IOException, InterruptedException {
        List<String> fixed = fixedOptions(feature(javaHome()));
        ClassArchive archive = archive(fixed);
        if (archive == null) {
            return false;
        }
        archive.deleteInterruptedRecordings();
        ProcessBuilder builder = new ProcessBuilder(recordingCommand(archive, fixed, directory));
        setMallocVariables(builder.environment());
        Process process = builder.redirectInput(Redirect.from(DEV_NULL))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(messages.toFile())
                .start();
        try {
            return archive.finishRecording(process.waitFor() == 0);
        } finally {
            ArchiveRecorder.end(process);
        }
    }

    /** Returns true if an archive exists that workers can use. */
    public boolean hasArchive() {
        ClassArchive archive = archiveOrNull();
        return archive != null && archive.exists();
    }

    private List<String> jvmCommand(List<String> fixed) {
        List<String> line = new ArrayList<>();
        line.add(javaHome().resolve("bin/java").toString());
        line.addAll(derivedOptions());
        line.addAll(fixed);
        return line;
    }

    /** JVM options that do not depend on the configuration. */
    private List<String> fixedOptions(int feature) throws IOException {
        List<String> options = new ArrayList<>();
        if (feature >= FEATURE_RESTRICTING_UNSAFE) {
            options.add("--sun-misc-unsafe-memory-access=allow");
            options.add("--enable-native-access=ALL-UNNAMED");
            options.add("-Dio.netty.noUnsafe=false");
        }
        for (String opened : OPENS) {
            options.add("--add-opens=" + opened + "=ALL-UNNAMED");
        }
        options.add("--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED");
        options.add("-Dio.netty.tryReflectionSetAccessible=true");
        if (trimsNativeHeap(release(javaHome()))) {
            options.add(TRIM_OPTION);
        }
        if (home != null) {
            options.addAll(JvmOptions.read(home.resolve("conf"), feature));
        }
        return options;
    }

    private @Nullable ClassArchive archive(List<String> fixed) throws IOException {
        if (home == null || !isPacked()) {
            return null;
        }
        Path lib = home.resolve("lib");
        ClassArchive packaged = archive(lib, fixed);
        // If an installed package has no archive for this JDK, and lib is not writable, the archive is in the state
        // directory.
        return packaged.exists() || Files.isWritable(lib) ? packaged : archive(state.state(), fixed);
    }

    private ClassArchive archive(Path directory, List<String> fixed) throws IOException {
        Path javaHome = javaHome();
        return ClassArchive.in(
                directory, state.state(), javaHome, fixed, classPath(), release(javaHome), feature(javaHome));
    }

    /**
     * Returns true if all classes are in jars. A JVM does not archive classes in directories, and reports this only at
     * the end of the recording.
     */
    private static boolean isPacked() {
        for (String entry : classPath().split(File.pathSeparator, -1)) {
            if (!entry.endsWith(".jar")) {
                return false;
            }
        }
        return true;
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    /**
     * Returns JVM options that depend on the configuration. Options in conf/jvm.options follow them and override them.
     */
    private List<String> derivedOptions() {
        long heap = config.worker().heapBytes();
        long ramTier = config.cache().ramBytes();
        // One third is added, because the chunks of the pool are never completely full.
        long inFlight = config.limits().memoryInFlightBytes() / 3 * 4 + DIRECT_IN_RESERVE;
        long direct = ramTier + ramTier / 4 + Math.max(DIRECT_BESIDES_RAM_TIER, inFlight);
        return List.of(
                "-Xmx" + heap / MIB + "m",
                "-XX:MaxDirectMemorySize=" + direct / MIB + "m",
                "-XX:ErrorFile=" + state.log().resolve("hs_err_pid%p.log"));
    }

    private Path javaHome() {
        @Nullable Path configured = config.worker().javaHome();
        return configured == null ? Path.of(System.getProperty("java.home")) : configured;
    }

    /**
     * Returns the feature release of the JDK in {@code javaHome}. If its release file has no version, returns the
     * feature release of this JVM.
     */
    static int feature(Path javaHome) {
        Matcher matcher = RELEASE_VERSION.matcher(release(javaHome));
        return matcher.find()
                ? Integer.parseInt(matcher.group(1))
                : Runtime.version().feature();
    }

    /**
     * Returns true if a JDK can give free memory of the C library back to the kernel.
     *
     * @param release the content of its release file
     */
    static boolean trimsNativeHeap(String release) {
        return TRIMMING_VERSIONS.matcher(release).find();
    }

    /**
     * Returns the content of the release file of the JDK in {@code javaHome}. If it cannot be read, returns another
     * text that identifies the JDK.
     */
    private static String release(Path javaHome) {
        try {
            return Files.readString(javaHome.resolve("release"));
        } catch (IOException e) {
            return javaHome + " " + Runtime.version();
        }
    }
}
