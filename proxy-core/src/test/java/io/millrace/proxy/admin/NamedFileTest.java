package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.HttpExchange.Response;
import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.config.ConfigChangeResource;
import io.millrace.proxy.admin.config.ConfigChanger;
import io.millrace.proxy.admin.config.ConfigCheckResource;
import io.millrace.proxy.admin.config.ConfigControl;
import io.millrace.proxy.admin.config.ConfigControl.CheckReport;
import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.config.admin.AdminConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which files {@code config check} and {@code config plan} read, for whom: over real sockets, with a control that says what it was asked. */
class NamedFileTest {
    private static final String TOKEN = "0123456789abcdef";

    @TempDir
    Path directory;

    private final Queue<Path> read = new ConcurrentLinkedQueue<>();
    private Path configurations;
    private Path secret;
    private AdminServer server;

    private final ConfigControl control = new ConfigControl() {
        @Override
        public CheckReport check(Path file) {
            read.add(file);
            return new CheckReport(List.of());
        }

        @Override
        public CompletionStage<ReloadReport> reload(AdminCaller caller) {
            throw new AssertionError();
        }
    };

    private final ConfigChanger changer = new ConfigChanger() {
        @Override
        public CompletionStage<ReloadReport> plan(Path file) {
            read.add(file == null ? configurations.resolve("millrace.yaml") : file);
            return CompletableFuture.completedFuture(new ReloadReport(true, List.of(), List.of()));
        }

        @Override
        public CompletionStage<ReloadReport> set(Map<String, String> settings, boolean save, AdminCaller caller) {
            throw new AssertionError();
        }

        @Override
        public CompletionStage<ReloadReport> reset(List<String> keys, AdminCaller caller) {
            throw new AssertionError();
        }

        @Override
        public CompletionStage<ReloadReport> rollback(int entry, AdminCaller caller) {
            throw new AssertionError();
        }
    };

    @BeforeEach
    void start() throws IOException {
        configurations = Files.createDirectory(directory.resolve("etc"));
        secret = Files.writeString(directory.resolve("secret"), "password: hunter2\n");
        Files.createDirectory(configurations.resolve("sites"));
        Files.createFile(configurations.resolve("sites/a.yaml"));
        Files.createSymbolicLink(configurations.resolve("link.yaml"), secret);
        Files.createSymbolicLink(configurations.resolve("up"), directory);
        // As a link that is changed to another version of the file: the configuration lies elsewhere.
        Path version = Files.createDirectory(directory.resolve("versions")).resolve("7.yaml");
        Files.createFile(version);
        serve(Files.createSymbolicLink(configurations.resolve("millrace.yaml"), version));
    }

    private void serve(Path configuration) throws IOException {
        Path token = Files.writeString(directory.resolve("token"), TOKEN);
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        server = AdminServer.builder()
                .unixSocket(directory.resolve("admin.sock"))
                .tcp(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        AdminAccess.of(new AdminConfig(
                                null,
                                null,
                                token,
                                List.of(),
                                null,
                                Duration.ofHours(1).toNanos())))
                .resource(new ConfigCheckResource(control, configuration))
                .resource(ConfigChangeResource.plan(changer, configuration))
                .start();
    }

    @AfterEach
    void close() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"millrace.yaml", "sites/a.yaml", "sites/../sites/a.yaml", "missing.yaml", "up/etc/sites/a.yaml"})
    void overTcpWhatLiesWithTheConfigurationIsRead(String name) throws IOException {
        Path file = configurations.resolve(name);

        assertEquals(200, overTcp("check", file).status());
        assertEquals(200, overTcp("plan", file).status());
        assertEquals(List.of(file, file), List.copyOf(read));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../secret",
                "link.yaml",
                "up/secret",
                "sites/../../secret",
                "..",
                "../missing",
                "../missing/x",
                "up/x"
            })
    void overTcpNothingElseIsRead(String name) throws IOException {
        Path file = configurations.resolve(name);
        String refusal =
                "{\"error\":{\"code\":\"file-refused\",\"message\":\"requests over TCP may name only files below the"
                        + " directory of the configuration file, " + configurations + "; use the Unix socket\"}}";

        assertEquals(new Refused(403, refusal), refused(overTcp("check", file)));
        assertEquals(
                new Refused(403, refusal), refused(overTcp("plan", file)), "whether there is such a file is not said");
        assertTrue(read.isEmpty(), read::toString);
    }

    private record Refused(int status, String body) {}

    private static Refused refused(Response response) {
        return new Refused(response.status(), response.body());
    }

    @Test
    void overTheUnixSocketEveryFileIsRead() throws IOException {
        assertEquals(200, overUnixSocket("check", secret).status());
        assertEquals(200, overUnixSocket("plan", secret).status());
        assertEquals(List.of(secret, secret), List.copyOf(read));
    }

    @Test
    void overTcpTheFileThatRunsIsPlannedWithoutItsName() throws IOException {
        assertEquals(200, overTcp("plan", "{}").status());
        assertEquals(1, read.size());
    }

    @Test
    void overTcpNoFileIsReadWhereOptionsSayWhatRuns() throws IOException {
        server.close();
        serve(null);
        Response refused = overTcp("check", configurations.resolve("sites/a.yaml"));

        assertEquals(403, refused.status());
        assertTrue(refused.body().contains("and there is no configuration file"), refused.body());
        assertTrue(read.isEmpty(), read::toString);
    }

    private static String body(Path file) {
        return "{\"file\":\"" + file + "\"}";
    }

    private Response overTcp(String verb, Path file) throws IOException {
        return overTcp(verb, body(file));
    }

    private Response overTcp(String verb, String body) throws IOException {
        try (HttpExchange exchange = HttpExchange.connect(server.tcpAddress())) {
            return exchange.send("POST /v1/config/" + verb + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                            + TOKEN + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
                    .read();
        }
    }

    private Response overUnixSocket(String verb, Path file) throws IOException {
        return HttpExchange.post(directory.resolve("admin.sock"), "/v1/config/" + verb, body(file));
    }
}
