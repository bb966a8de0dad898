package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every screen of the dashboard, checked by axe-core (npm) in Chromium, in both themes and on a small screen. */
@Tag("nightly")
class AccessibilityTest {
    private static final Path SOURCE = Path.of(System.getProperty("millrace.source", ".."));
    private static final Duration FETCHED_WITHIN = Duration.ofMinutes(3);

    /** Digest of {@code axe.min.js} of the version in {@code src/test/conformance/axe/package.json}. */
    private static final String DIGEST = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c";

    private static final String[][] SCREENS = {
        {"overview", "Overview"},
        {"latency", "Latency"},
        {"events", "Events"},
        {"curve", "What RAM would bring"},
        {"disks", "Disks"},
        {"log", "Live log"},
        {"log?kind=failed", "Live log"},
        {"cache", "Cache"},
        {"inspect?url=URL", "Inspector"},
        {"purge", "Purge"},
        {"origins", "Origins"},
        {"fleet", "Fleet"},
        {"config", "Configuration"},
        {"config?tab=history", "Configuration"},
        {"processes", "Processes"},
        {"certificates", "Certificates"},
    };

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private static MillraceProcess proxy;
    private static Browser browser;
    private static String axe = "";

    private String lease = "";

    @BeforeAll
    static void start() throws IOException, InterruptedException, NoSuchAlgorithmException {
        assumeTrue(Browser.isInstalled(), "SKIPPED: chromium is not installed");
        assumeTrue(Command.isInstalled("npm") || System.getenv("CI") != null, "SKIPPED: npm is not installed");
        axe = axe();
        proxy = product.launch().origin(origin.url()).start();
        origin.serves("/a.css", "content", "Cache-Control: max-age=600", "Surrogate-Key: shop");
        RawClient.fetch(proxy.port(), "/a.css");
        browser = Browser.start(product.newDirectory());
    }

    private static String axe() throws IOException, NoSuchAlgorithmException {
        Path directory = Path.of("target", "axe").toAbsolutePath();
        Path script = directory.resolve("node_modules/axe-core/axe.min.js");
        if (!Files.isRegularFile(script)) {
            Files.createDirectories(directory);
            Files.copy(
                    SOURCE.resolve("src/test/conformance/axe/package.json"),
                    directory.resolve("package.json"),
                    StandardCopyOption.REPLACE_EXISTING);
            Command.run(
                            directory,
                            FETCHED_WITHIN,
                            List.of(
                                    "npm",
                                    "install",
                                    "--ignore-scripts",
                                    "--no-audit",
                                    "--no-fund",
                                    "--no-package-lock"))
                    .succeeds();
        }
        byte[] bytes = Files.readAllBytes(script);
        assertEquals(
                DIGEST,
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)),
                "another file than expected: " + script);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @BeforeEach
    void login() throws IOException, InterruptedException {
        Json opened = proxy.admin().post("/v1/dashboard/open", "{}").json();
        lease = opened.at("lease").text();
        browser.open(opened.at("url").text());
        browser.await("document.querySelector('[data-name=requests_total][data-value]')");
        browser.value(axe + ";0");
    }

    @AfterEach
    void close() throws IOException {
        proxy.admin().post("/v1/dashboard/close", "{\"lease\":" + Browser.quoted(lease) + "}");
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
    }

    private static void show(int width, boolean isDark) throws IOException, InterruptedException {
        browser.call(
                "Emulation.setEmulatedMedia",
                "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"" + (isDark ? "dark" : "light")
                        + "\"},{\"name\":\"prefers-reduced-motion\",\"value\":\"reduce\"}]}");
        browser.call(
                "Emulation.setDeviceMetricsOverride",
                "{\"width\":" + width + ",\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false}");
    }

    /** Returns a line for each element that violates a rule. */
    private static List<String> violations(String place) throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>();
        // A rule that applies to nothing on the page is no proof.
        assertTrue(
                browser.value("axe.run(document).then((result) => result.passes.length > 10)")
                        .isTrue(),
                place);
        for (Json line : browser.value("axe.run(document, {resultTypes: ['violations']}).then((result) =>"
                        + " result.violations.flatMap((rule) => rule.nodes.map((node) => rule.id + ' at ' +"
                        + " node.target.join(' ') + ': ' + node.failureSummary)))")
                .elements()) {
            lines.add(place + ": " + line.text());
        }
        return lines;
    }

    private static void open(String fragment, String heading) throws IOException, InterruptedException {
        browser.value("location.hash = " + Browser.quoted("#/" + fragment));
        browser.await("document.querySelector('h1').textContent === " + Browser.quoted(heading));
        browser.await("!/Loading\\.|Searching\\./.test(document.body.innerText)");
    }

    @ParameterizedTest
    @CsvSource({"1280, false", "1280, true", "360, false"})
    void noScreenViolatesARule(int width, boolean isDark) throws IOException, InterruptedException {
        show(width, isDark);
        List<String> violations = new ArrayList<>();
        for (String[] screen : SCREENS) {
            String fragment = screen[0].replace("URL", proxy.url("/a.css"));
            open(fragment, screen[1]);
            violations.addAll(violations(screen[0]));
        }
        assertEquals(List.of(), violations);
    }

    @Test
    void noDialogAndNoErrorViolatesARule() throws IOException, InterruptedException {
        show(1280, false);
        List<String> violations = new ArrayList<>();
        open("log", "Live log");
        browser.await("document.querySelector('[data-name=log-state]').dataset.value === 'watching'");
        RawClient.fetch(proxy.port(), "/a.css");
        browser.await("document.querySelector('.row-open')");
        browser.value("document.querySelector('.row-open').click()");
        browser.await("document.querySelector('dialog[open]')");
        violations.addAll(violations("details of a request"));
        browser.confirm("Close");
        open("log?where=status", "Live log");
        browser.await("document.querySelector('.message.bad')");
        violations.addAll(violations("a wrong condition"));
        open("inspect?url=" + proxy.url("/a.css"), "Inspector");
        browser.click("Purge");
        browser.await("document.querySelector('dialog[open]')");
        violations.addAll(violations("question before a purge"));
        browser.confirm("Cancel");
        browser.click("Log out");
        browser.await("document.querySelector('input[name=token]')");
        violations.addAll(violations("login"));
        assertEquals(List.of(), violations);
    }
}
