package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests HTTP/2 clients of users, which load the sample site over TLS and by prior knowledge. */
@Tag("nightly")
class Http2ClientsTest {
    private static final String LOAD = """
            import sys, httpx
            with httpx.Client(http1=False, http2=True, verify=False) as client:
                for path in ['/', '/style.css', '/'] * 5:
                    answer = client.get(sys.argv[1] + path)
                    assert answer.status_code == 200 and answer.http_version == 'HTTP/2', answer
                    assert len(answer.content) > 100
            print('loaded')
            """;

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static Path directory = Path.of("");
    private static String clear = "";
    private static String secure = "";

    @BeforeAll
    static void start() throws IOException {
        directory = product.newDirectory();
        SelfSignedCertificate.write(directory, "localhost");
        MillraceProcess site = product.launch().demo().start();
        int clearPort = PackedProduct.freePort();
        int securePort = PackedProduct.freePort();
        Path config = directory.resolve("millrace.yaml");
        Files.writeString(config, """
                listen:
                  - {address: "127.0.0.1:%d", h2c: true}
                  - {address: "127.0.0.1:%d", tls: {certificate: %s, key: %s}}
                log: {access: {path: %s, format: json}}
                via: {name: edge}
                remap: [{map: /, to: "http://127.0.0.1:%d/"}]
                """.formatted(
                        clearPort,
                        securePort,
                        directory.resolve("cert.pem"),
                        directory.resolve("key.pem"),
                        directory.resolve("access.log"),
                        site.port()));
        product.launch().config(config).listeningByFile(clearPort).start();
        Files.writeString(directory.resolve("load.py"), LOAD);
        clear = "http://localhost:" + clearPort;
        secure = "https://localhost:" + securePort;
    }

    /** A command, with URL in place of the address, and its output. */
    private record Client(String name, String tool, boolean tls, String line, String expected) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Client> clients() {
        return Stream.of(
                new Client(
                        "curl",
                        "curl",
                        true,
                        "curl -sk -o /dev/null -w %{http_version}-%{http_code} --http2 URL/",
                        "2-200"),
                new Client(
                        "curl with prior knowledge",
                        "curl",
                        false,
                        "curl -s -o /dev/null -w %{http_version}-%{http_code} --http2-prior-knowledge URL/",
                        "2-200"),
                new Client("nghttp with assets", "nghttp", true, "nghttp -nas URL/", "200"),
                new Client("nghttp with prior knowledge", "nghttp", false, "nghttp -nas URL/", "200"),
                new Client("h2load", "h2load", true, "h2load -n2000 -c8 -m20 URL/", "2000 succeeded, 0 failed"),
                new Client(
                        "h2load with prior knowledge",
                        "h2load",
                        false,
                        "h2load -n2000 -c8 -m20 URL/",
                        "2000 succeeded, 0 failed"),
                new Client("httpx", "python3", true, "venv/bin/python load.py URL", "loaded"),
                new Client("httpx with prior knowledge", "python3", false, "venv/bin/python load.py URL", "loaded"));
    }

    @ParameterizedTest
    @MethodSource("clients")
    void loadsTheSite(Client client) throws IOException {
        Assumptions.assumeTrue(Command.isInstalled(client.tool()), "SKIPPED: " + client.tool() + " is not installed");
        if (client.tool().equals("python3") && !Files.exists(directory.resolve("venv/bin/httpx"))) {
            Command made = Command.run(
                    directory,
                    Duration.ofMinutes(2),
                    List.of("sh", "-c", "python3 -m venv venv && venv/bin/pip -q install 'httpx[http2]'"));
            Assumptions.assumeTrue(made.exitCode() == 0, () -> "SKIPPED: httpx cannot be installed: " + made.out());
        }
        List<String> line = Arrays.asList(
                client.line().replace("URL", client.tls() ? secure : clear).split(" ", -1));
        Command run = Command.run(directory, line).succeeds();
        assertTrue(run.out().contains(client.expected()), run::out);
    }

    /** A browser loads the page and its style sheet over one protocol, and shows the page. */
    @Test
    void browserLoadsTheSite() throws IOException {
        Assumptions.assumeTrue(Command.isInstalled("chromium"), "SKIPPED: chromium is not installed");
        List<String> line = List.of(
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
                "--ignore-certificate-errors",
                "--user-data-dir=" + directory.resolve("chromium"),
                "--dump-dom",
                secure + "/");
        Command run = Command.run(directory, line).succeeds();
        assertTrue(run.out().contains("style.css"), run::toString);
        await("style sheet in the log").atMost(Duration.ofSeconds(20)).until(() -> browsersRequests("/style.css") > 0);
        assertTrue(browsersRequests("/") > 0, "no request for the page");
    }

    private static long browsersRequests(String path) throws IOException {
        return Files.readAllLines(directory.resolve("access.log")).stream()
                .map(Json::parse)
                .filter(each -> each.at("user_agent").text().contains("Chrome"))
                .filter(each -> each.at("url").text().equals(secure + path)
                        && each.at("protocol").text().equals("HTTP/2.0"))
                .count();
    }
}
