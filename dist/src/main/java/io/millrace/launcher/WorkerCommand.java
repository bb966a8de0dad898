package io.millrace.launcher;

import io.millrace.proxy.config.ProxyConfig;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The command line of the worker's JVM. Immutable.
 *
 * @param home the unpacked product; null where there is none, as in tests
 * @param config names heap, RAM tier and JDK
 * @param mainClass of the worker
 */
record WorkerCommand(@Nullable Path home, ProxyConfig config, StateDirectory state, String mainClass)
        implements WorkerStarter {
    private static final long MIB = 1024 * 1024;

    /** Direct memory besides the RAM tier: network buffers, the store's queues, the pools' own slack. */
    private static final long DIRECT_BESIDES_RAM_TIER = 512 * MIB;

    /** What Netty's and the store's off-heap access reach into; a manifest cannot say it for {@code -cp}. */
    private static final List<String> OPENS = List.of(
            "java.base/java.lang",
            "java.base/java.lang.reflect",
            "java.base/java.nio",
            "java.base/jdk.internal.misc",
            "java.base/sun.nio.ch");

    /** From this release on Netty uses Unsafe only when the JVM is told that it may. */
    private static final int FEATURE_ASKING_FOR_UNSAFE = 24;

    private static final Pattern RELEASE_VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)[^\"]*\"");

    @Override
    public Process start(long generation) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(line(generation));
        builder.redirectInput(Redirect.from(new File("/dev/null")));
        builder.redirectOutput(Redirect.INHERIT);
        builder.redirectError(Redirect.INHERIT);
        return builder.start();
    }

    List<String> line(long generation) throws IOException {
        Path javaHome = javaHome();
        int feature = feature(javaHome);
        List<String> line = new ArrayList<>();
        line.add(javaHome.resolve("bin/java").toString());
        line.addAll(derivedOptions());
        if (feature >= FEATURE_ASKING_FOR_UNSAFE) {
            line.add("--sun-misc-unsafe-memory-access=allow");
            line.add("--enable-native-access=ALL-UNNAMED");
            line.add("-Dio.netty.noUnsafe=false");
        }
        for (String opened : OPENS) {
            line.add("--add-opens=" + opened + "=ALL-UNNAMED");
        }
        line.add("-Dio.netty.tryReflectionSetAccessible=true");
        line.add("-Dchronicle.analytics.disable=true");
        if (home != null) {
            line.addAll(JvmOptions.read(home.resolve("conf"), feature));
        }
        line.add("-cp");
        line.add(System.getProperty("java.class.path"));
        line.add(mainClass);
        line.add(state.control().directory().toString());
        line.add(state.state().toString());
        line.add(state.cache().toString());
        line.add(state.log().toString());
        line.add(Long.toString(generation));
        line.add(Long.toString(config.worker().heartbeatIntervalMillis() * 1_000_000));
        return line;
    }

    /** Limits that follow from the configuration; conf/jvm.options comes later and may say otherwise. */
    private List<String> derivedOptions() {
        long heap = config.worker().heapBytes();
        long ramTier = config.cache().ramBytes();
        long direct = ramTier + ramTier / 4 + DIRECT_BESIDES_RAM_TIER;
        return List.of(
                "-Xmx" + heap / MIB + "m",
                "-XX:MaxDirectMemorySize=" + direct / MIB + "m",
                "-XX:ErrorFile=" + state.log().resolve("hs_err_pid%p.log"));
    }

    private Path javaHome() {
        @Nullable Path configured = config.worker().javaHome();
        return configured == null ? Path.of(System.getProperty("java.home")) : configured;
    }

    /** Feature release of the JDK in {@code javaHome}: from its release file, else this JVM's own. */
    static int feature(Path javaHome) {
        if (!javaHome.equals(Path.of(System.getProperty("java.home")))) {
            try {
                Matcher matcher = RELEASE_VERSION.matcher(Files.readString(javaHome.resolve("release")));
                if (matcher.find()) {
                    return Integer.parseInt(matcher.group(1));
                }
            } catch (IOException e) {
                return Runtime.version().feature();
            }
        }
        return Runtime.version().feature();
    }
}
