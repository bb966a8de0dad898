package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The five questions of an operator, answered from the page alone, and a picture of every screen. A shop with several
 * hosts has traffic meanwhile: one host misses most, one URL cannot be cached, and a disk fails. The pictures are in
 * {@code target/screens}; {@code -Dmillrace.pictures.write=true} also writes those of docs/guide.
 */
@Tag("nightly")
class DashboardScreensTest {
    private static final Path SOURCE = Path.of(System.getProperty("millrace.source", ".."));
    private static final Path SCREENS = Path.of("target", "screens");
    private static final int TRAFFIC_SECONDS = Integer.getInteger("millrace.pictures.seconds", 45);
    private static final int NARROW = 360;
    private static final int WIDE = 1440;
    private static final int CATALOGUE = 600;
    private static final String WWW = "www.example.com";
    private static final String API = "api.example.com";
    private static final String[] OTHERS = {"img.example.com", "blog.example.com"};

    private static final String[][] ALL_SCREENS = {
        {"overview", "Overview"},
        {"latency", "Latency"},
        {"events", "Events"},
        {"log", "Live log"},
        {"log?kind=failed", "Live log"},
        {"cache", "Cache"},
        {"curve", "What RAM would bring"},
        {"disks", "Disks"},
        {"inspect?url=http://www.example.com/cart", "Inspector"},
        {"inspect?url=http://www.example.com/p/1", "Inspector"},
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

    private static final AtomicBoolean isOver = new AtomicBoolean();
    private static @Nullable Thread traffic;
    /** Keeps the port of the dashboard open. */
    private static @Nullable Process command;

    private static MillraceProcess proxy;
    private static Browser browser;

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        Assumptions.assumeTrue(Browser.isInstalled(), "SKIPPED: chromium is not installed");
        Assumptions.assumeTrue(Command.isInstalled("prlimit"), "SKIPPED: prlimit is not installed");
        int port = PackedProduct.freePort();
        proxy = product.launch()
                .config(configure(product.newDirectory(), port))
                .listeningByFile(port)
                .start();
        serve();
        Thread clients = new Thread(DashboardScreensTest::request, "clients");
        clients.setDaemon(true);
        clients.start();
        traffic = clients;
        browser = Browser.start(product.newDirectory());
        Files.createDirectories(SCREENS);
        proxy.millctl("cache", "purge", "http://www.example.com/p/3").succeeds();
        proxy.millctl("config", "set", "log.slow_threshold=300ms").succeeds();
        Process dashboard = new ProcessBuilder(
                        product.home().resolve("bin/millctl").toString(),
                        "dashboard",
                        "--no-browser",
                        "--admin",
                        proxy.adminSocket().toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        command = dashboard;
        browser.open(dashboard.inputReader().readLine());
        browser.await("document.querySelector('[data-name=requests_total][data-value]')");
    }

    private static Path configure(Path directory, int port) throws IOException {
        return Files.writeString(
                directory.resolve("millrace.yaml"), """
                listen: ["127.0.0.1:%d"]
                cache: {ram_size: 4MiB, curve: true, tags: {fields: [Surrogate-Key]}}
                storage: [{path: %s, size: 256MiB}]
                origins:
                  - {name: shop, hosts: ["%s", "http://127.0.0.1:1"]}
                remap:
                  - {map: /, to: "http://shop.internal/", origins: shop}
                """.formatted(port, directory.resolve("disk-1"), origin.url()));
    }

    private static void serve() {
        byte[] page = new byte[12_000];
        new Random(1).nextBytes(page);
        for (int i = 0; i < CATALOGUE; i++) {
            origin.on(
                    "/p/" + i,
                    exchange -> exchange.answer(
                            200,
                            page,
                            "Content-Type: text/html",
                            "Cache-Control: max-age=3600",
                            "Surrogate-Key: product"));
        }
        origin.serves("/cart", "a basket", "Cache-Control: private, no-store", "Content-Type: text/html");
        origin.on("/stock", exchange -> {
            TimeUnit.MILLISECONDS.sleep(exchange.number() % 40 == 0 ? 350 : 4);
            exchange.answer(200, "12", "Cache-Control: no-store", "Content-Type: application/json");
        });
        origin.on("/broken", exchange -> exchange.answer(500, "no"));
    }

    private static void get(RawClient client, String host, String path) throws IOException {
        client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n").response();
    }

    private static void request() {
        Random random = new Random(2);
        while (!isOver.get()) {
            try (RawClient client = RawClient.connect(proxy.port())) {
                for (int i = 0; i < 200 && !isOver.get(); i++) {
                    int product = (int) (CATALOGUE * Math.pow(random.nextDouble(), 3));
                    int kind = random.nextInt(100);
                    if (kind < 45) {
                        get(client, API, "/stock");
                    } else if (kind < 47) {
                        get(client, WWW, "/cart");
                    } else if (kind == 47 && i % 10 == 0) {
                        get(client, API, "/broken");
                    } else {
                        get(client, kind < 80 ? WWW : OTHERS[kind % OTHERS.length], "/p/" + product);
                    }
                    TimeUnit.MILLISECONDS.sleep(8);
                }
            } catch (IOException e) {
                // The next connection goes on.
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    @AfterAll
    static void stop() throws InterruptedException {
        isOver.set(true);
        if (traffic != null) {
            traffic.join();
        }
        if (command != null) {
            command.destroy();
        }
        if (browser != null) {
            browser.close();
        }
    }

    private static void open(String fragment, String heading) throws IOException, InterruptedException {
        browser.value("location.hash = " + Browser.quoted("#/" + fragment));
        browser.await("document.querySelector('h1').textContent === " + Browser.quoted(heading));
        browser.await("!/Loading\\.|Searching\\./.test(document.body.innerText)");
        if (fragment.startsWith("inspect")) {
            browser.await("document.querySelector('[data-name=outcome]')");
        }
    }

    private static String text(String selector) throws IOException, InterruptedException {
        String element = "document.querySelector('" + selector + "')";
        browser.await(element);
        return browser.value(element + ".innerText").text();
    }

    private static void awaitTraffic() {
        await("history of the traffic")
                .atMost(Duration.ofSeconds(TRAFFIC_SECONDS + 60L))
                .pollInterval(Duration.ofSeconds(1))
                .until(() -> proxy.admin()
                                .get("/v1/history?series=requests&from=3600s&step=10s")
                                .json()
                                .at("points")
                                .elements()
                                .size()
                        >= TRAFFIC_SECONDS / 10);
    }

    /** Makes the kernel refuse writes behind the first page of a file, and lets all responses be stored again. */
    private static void breakDisks() throws IOException {
        Command.run(
                        product.home(),
                        List.of("prlimit", "--pid", Long.toString(proxy.worker().pid()), "--fsize=4096"))
                .succeeds();
        proxy.admin().post("/v1/cache/purge", "{\"all\":true}");
    }

    @Test
    void fiveQuestionsAreAnsweredAndEveryScreenFits() throws Exception {
        awaitTraffic();
        open("inspect?url=http://www.example.com/cart", "Inspector");
        browser.await("document.querySelector('[data-name=outcome]')");
        assertTrue(text("main").contains("no-store"), "why a URL is not cached");
        open("overview", "Overview");
        assertTrue(text("[data-name=hosts] tbody tr").contains(API), "the host that misses most");
        breakDisks();
        browser.await("document.querySelector('[data-name=alarms]').innerText.includes('disk-offline')");
        open("events", "Events");
        String events = text("[data-name=events]");
        assertTrue(events.contains("disk-offline"), events);
        assertTrue(events.contains("log.slow_threshold"), events);
        open("curve", "What RAM would bring");
        // The traffic of this test is too short for a usable estimate, unless the machine is slow.
        String gain = text("[data-name=measuring],[data-name=gain_2]");
        assertTrue(gain.startsWith("Measuring since ") || gain.contains("points"), gain);
        pictures();
        assertEquals(List.of(), browser.problems());
    }

    private static void pictures() throws Exception {
        for (int width : new int[] {NARROW, WIDE}) {
            for (boolean isDark : new boolean[] {false, true}) {
                for (String[] screen : ALL_SCREENS) {
                    open(screen[0], screen[1]);
                    String name = screen[0].replaceAll("[^a-z]+", "-").replaceAll("-$", "");
                    browser.picture(
                            SCREENS.resolve(name + "-" + width + (isDark ? "-dark" : "-light") + ".png"),
                            width,
                            900,
                            isDark);
                    assertTrue(
                            browser.value("document.documentElement.scrollWidth <= " + width)
                                    .isTrue(),
                            screen[0] + " is wider than " + width);
                }
            }
        }
        if (Boolean.getBoolean("millrace.pictures.write")) {
            GuidePictures.write(browser, SOURCE.resolve("docs/guide/pictures"));
        }
    }
}
