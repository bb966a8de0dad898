package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The time from the start of a navigation to the dashboard until its first screen shows figures and takes clicks, in
 * Chromium with an empty cache. Nightly, because another load on the machine lengthens it.
 */
@Tag("nightly")
@Tag("alone")
class FirstScreenTest {
    private static final double LIMIT_MILLIS = 500;
    private static final int LOADS = 9;

    /**
     * Sets {@code window.interactiveMillis} at the first animation frame after the figure is shown. The page has attached
     * its listeners by then, and its main thread is free.
     */
    private static final String WATCH = """
            new MutationObserver((changes, watch) => {
              if (document.querySelector('[data-name=requests_total][data-value]')) {
                watch.disconnect();
                requestAnimationFrame(() => setTimeout(() => { window.interactiveMillis = performance.now(); }));
              }
            }).observe(document, {subtree: true, childList: true, attributes: true});
            """;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @Test
    void theFirstScreenIsInteractiveWithinHalfASecond() throws Exception {
        Assumptions.assumeTrue(Browser.isInstalled(), "SKIPPED: chromium is not installed");
        MillraceProcess proxy = product.launch().origin(origin.url()).start();
        origin.serves("/a", "content", "Cache-Control: max-age=600");
        RawClient.fetch(proxy.port(), "/a");
        RawClient.fetch(proxy.port(), "/a");
        Json opened = proxy.admin().post("/v1/dashboard/open", "{}").json();
        try (Browser browser = Browser.start(product.newDirectory())) {
            browser.open(opened.at("url").text());
            browser.await("document.querySelector('[data-name=requests_total][data-value]')");
            String page = browser.value("location.origin + location.pathname").text();
            browser.call("Network.setCacheDisabled", "{\"cacheDisabled\":true}");
            browser.call("Page.addScriptToEvaluateOnNewDocument", "{\"source\":" + Browser.quoted(WATCH) + "}");
            double[] millis = new double[LOADS];
            for (int i = 0; i < LOADS; i++) {
                millis[i] = load(browser, page);
            }
            double median = DoubleStream.of(millis).sorted().toArray()[LOADS / 2];
            System.out.println("first screen, milliseconds: " + Arrays.toString(millis));
            assertTrue(median <= LIMIT_MILLIS, () -> "median of " + Arrays.toString(millis));
        }
    }

    private static double load(Browser browser, String page) throws IOException, InterruptedException {
        browser.open(page);
        browser.await("window.interactiveMillis > 0");
        return Double.parseDouble(
                browser.value("String(window.interactiveMillis)").text());
    }
}
