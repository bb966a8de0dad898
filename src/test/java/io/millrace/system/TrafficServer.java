package io.millrace.system;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * Debian's Traffic Server 9 on loopback: one process with its own configuration, cache and logs below one directory,
 * killed by its id. Confined to one thread.
 */
final class TrafficServer implements AutoCloseable {
    private static final Path PROGRAM = Path.of("/usr/bin/traffic_server");
    private static final Path DEFAULTS = Path.of("/etc/trafficserver");
    private static final String USER = "trafficserver";

    /** Files that it needs to start without messages. */
    private static final List<String> USUAL = List.of(
            "ip_allow.yaml",
            "logging.yaml",
            "plugin.config",
            "parent.config",
            "hosting.config",
            "volume.config",
            "cache.config",
            "splitdns.config",
            "sni.yaml",
            "strategies.yaml",
            "socks.config",
            "ssl_multicert.config");

    /** Settings that keep it small, without an effect on responses. */
    static final String SMALL = """
            CONFIG proxy.config.exec_thread.autoconfig INT 0
            CONFIG proxy.config.exec_thread.limit INT 1
            CONFIG proxy.config.exec_thread.affinity INT 0
            CONFIG proxy.config.log.logging_enabled INT 0
            CONFIG proxy.config.http.wait_for_cache INT 1
            CONFIG proxy.config.admin.user_id STRING %s
            """.formatted(isRoot() ? USER : "#-1");

    private final Process process;

    private TrafficServer(Process process) {
        this.process = process;
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    /** Skips the test if it is not installed. */
    static void assumeInstalled() {
        Assumptions.assumeTrue(
                Files.isExecutable(PROGRAM) && Files.isDirectory(DEFAULTS),
                "SKIPPED: Traffic Server is not installed; 'apt-get install trafficserver'");
    }

    /** Starts it on the files of {@code root/etc} and waits until it accepts connections. */
    static TrafficServer start(Path root, int port) throws IOException {
        for (String name : USUAL) {
            if (!Files.exists(root.resolve("etc").resolve(name)) && Files.exists(DEFAULTS.resolve(name))) {
                Files.copy(DEFAULTS.resolve(name), root.resolve("etc").resolve(name));
            }
        }
        for (String name : List.of("var/log", "var/run", "cache")) {
            Files.createDirectories(root.resolve(name));
        }
        Command.run(root, List.of("cp", "-r", DEFAULTS.resolve("body_factory").toString(), "etc/"))
                .succeeds();
        Path layout = root.resolve("runroot.yaml");
        Files.writeString(layout, """
                prefix: ROOT
                exec_prefix: /usr
                bindir: /usr/bin
                sbindir: /usr/bin
                sysconfdir: ROOT/etc
                datadir: ROOT/cache
                includedir: /usr/include
                libdir: /usr/lib
                libexecdir: /usr/lib/trafficserver/modules
                localstatedir: ROOT/var
                runtimedir: ROOT/var/run
                logdir: ROOT/var/log
                cachedir: ROOT/cache
                """.replace("ROOT", root.toString()));
        if (isRoot()) {
            Command.run(root, List.of("chown", "-R", USER, root.toString())).succeeds();
        }
        Process process = new ProcessBuilder(PROGRAM.toString(), "--run-root=" + layout)
                .redirectErrorStream(true)
                .redirectOutput(root.resolve("output").toFile())
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        TrafficServer started = new TrafficServer(process);
        try {
            started.awaitAccepting(root, port);
        } catch (RuntimeException e) {
            started.close();
            throw e;
        }
        return started;
    }

    private void awaitAccepting(Path root, int port) {
        await("Traffic Server accepts").atMost(Duration.ofSeconds(60)).until(() -> {
            String told = told(root);
            // Without its port it would run for ever.
            if (!process.isAlive() || told.contains("unable to listen")) {
                throw new IllegalStateException("Traffic Server does not serve: " + told);
            }
            return accepts(port);
        });
    }

    /** Returns true if the started process still runs. */
    boolean isAlive() {
        return process.isAlive();
    }

    private static boolean accepts(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private static String told(Path root) throws IOException {
        Path diagnostics = root.resolve("var/log/diags.log");
        return Files.readString(root.resolve("output"))
                + (Files.exists(diagnostics) ? Files.readString(diagnostics) : "");
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                throw new AssertionError("Traffic Server " + process.pid() + " did not die");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
