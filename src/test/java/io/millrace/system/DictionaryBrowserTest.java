package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A real browser decodes responses that the packed product encodes with a dictionary of the browser (RFC 9842). */
@Tag("nightly")
class DictionaryBrowserTest {
    private static final String FRESH = "Cache-Control: max-age=600";
    private static final String SCRIPT = "Content-Type: text/javascript";
    private static final int LENGTH = 40_000;

    /** The browser stores a dictionary some time after its response. */
    private static final int TRIES_MAX = 100;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    /** Returns a script with random numbers, which differs from another one in its first line only. */
    private static String script(int number) {
        StringBuilder text = new StringBuilder("// release " + number + "\n");
        Random random = new Random(1);
        while (text.length() < LENGTH) {
            text.append("// ").append(Long.toHexString(random.nextLong())).append('\n');
        }
        return text.toString();
    }

    /** The host localhost is a secure context without TLS. */
    @Test
    void chromiumDecodesTheResponse() throws IOException, InterruptedException {
        Assumptions.assumeTrue(Browser.isInstalled(), "SKIPPED: chromium is not installed");
        origin.serves("/page.html", "<!doctype html><title>page</title>", FRESH, "Content-Type: text/html");
        origin.serves("/app1.js", script(1), FRESH, SCRIPT, "Use-As-Dictionary: match=\"/app*.js\"");
        origin.on("/app2.js", exchange -> exchange.answer(200, script(2), FRESH, SCRIPT));
        MillraceProcess proxy = product.launch()
                .origin(origin.url())
                .set("compression.dictionaries.enabled", "true")
                .start();
        try (Browser browser = Browser.start(product.newDirectory())) {
            browser.open("http://localhost:" + proxy.port() + "/page.html");
            browser.await("document.title === 'page'");
            assertEquals(
                    script(1),
                    browser.value("fetch('/app1.js').then((response) => response.text())")
                            .text());
            String encodings = "['dcb', 'dcz'].includes(response.headers.get('content-encoding'))";
            String second = "(async () => { for (let i = 0; i < " + TRIES_MAX + "; i++) {"
                    + " const response = await fetch('/app2.js?' + i); const text = await response.text();"
                    + " if (" + encodings + ") { return text; }"
                    + " await new Promise((done) => setTimeout(done, 100)); } return 'no dictionary'; })()";
            assertEquals(script(2), browser.value(second).text());
        }
    }
}
