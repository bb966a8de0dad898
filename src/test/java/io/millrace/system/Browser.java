package io.millrace.system;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A headless Chromium with one page, driven by its DevTools protocol over a WebSocket. Keeps the page's errors and the URLs of its
 * requests. Confined to one thread.
 */
final class Browser implements AutoCloseable {
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(20);
    private static final Duration TRUE_WITHIN = Duration.ofSeconds(20);
    private static final long POLL_MILLIS = 50;

    private final Process process;
    private final WebSocket socket;
    private final Messages messages;
    private final List<String> problems = new ArrayList<>();
    private final List<String> requested = new ArrayList<>();
    private String session = "";
    private long lastId;

    /** Collects whole text messages. Thread-safe. */
    private static final class Messages implements WebSocket.Listener {
        private final BlockingQueue<String> whole = new LinkedBlockingQueue<>();
        private final StringBuilder part = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket webSocket, CharSequence data, boolean isLast) {
            part.append(data);
            if (isLast) {
                whole.add(part.toString());
                part.setLength(0);
            }
            webSocket.request(1);
            return null;
        }
    }

    private Browser(Process process, WebSocket socket, Messages messages) {
        this.process = process;
        this.socket = socket;
        this.messages = messages;
    }

    static boolean isInstalled() {
        return Command.isInstalled("chromium");
    }

    /** @param directory an existing directory for the profile */
    static Browser start(Path directory) throws IOException, InterruptedException {
        Path profile = Files.createTempDirectory(directory, "chromium");
        Process process = new ProcessBuilder(
                        "chromium",
                        "--headless=new",
                        "--hide-scrollbars",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--disable-sync",
                        "--no-first-run",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        Path port = profile.resolve("DevToolsActivePort");
        long deadline = System.nanoTime() + ANSWER_WITHIN.toNanos();
        while (!Files.exists(port) || Files.readAllLines(port).size() < 2) {
            if (System.nanoTime() - deadline > 0 || !process.isAlive()) {
                process.destroyForcibly();
                throw new IOException("chromium did not start");
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
        List<String> lines = Files.readAllLines(port);
        Messages messages = new Messages();
        WebSocket socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create("ws://127.0.0.1:" + lines.get(0) + lines.get(1)), messages)
                .join();
        Browser browser = new Browser(process, socket, messages);
        browser.attach();
        return browser;
    }

    private void attach() throws IOException, InterruptedException {
        String target = call("Target.createTarget", "{\"url\":\"about:blank\"}")
                .at("targetId")
                .text();
        session = call("Target.attachToTarget", "{\"targetId\":" + quoted(target) + ",\"flatten\":true}")
                .at("sessionId")
                .text();
        for (String domain : new String[] {"Page", "Runtime", "Log", "Network"}) {
            call(domain + ".enable", "{}");
        }
    }

    /** Sends a command and returns its result. Events that arrive before it are kept. */
    Json call(String method, String parameters) throws IOException, InterruptedException {
        long id = ++lastId;
        socket.sendText(
                        "{\"id\":" + id + (session.isEmpty() ? "" : ",\"sessionId\":" + quoted(session))
                                + ",\"method\":" + quoted(method) + ",\"params\":" + parameters + "}",
                        true)
                .join();
        while (true) {
            String text = messages.whole.poll(ANSWER_WITHIN.toSeconds(), TimeUnit.SECONDS);
            if (text == null) {
                throw new IOException("no answer of chromium to " + method);
            }
            Json message = Json.parse(text);
            if (message.at("id").isNull()) {
                event(message);
            } else if (message.at("id").number() == id) {
                if (!message.at("error").isNull()) {
                    throw new IOException(method + ": " + text);
                }
                return message.at("result");
            }
        }
    }

    private void event(Json event) {
        switch (event.at("method").text()) {
            case "Runtime.exceptionThrown" ->
                problems.add(event.at("params.exceptionDetails.exception.description")
                        .text());
            case "Log.entryAdded" -> {
                if (event.at("params.entry.level").text().equals("error")) {
                    problems.add(event.at("params.entry.text").text() + " "
                            + event.at("params.entry.url").text());
                }
            }
            case "Network.requestWillBeSent" ->
                requested.add(event.at("params.request.url").text());
            default -> {
                // not of interest
            }
        }
    }

    /** Loads a URL, also one that differs from the present one in its fragment only. Forgets earlier problems. */
    void open(String url) throws IOException, InterruptedException {
        call("Page.navigate", "{\"url\":\"about:blank\"}");
        problems.clear();
        requested.clear();
        call("Page.navigate", "{\"url\":" + quoted(url) + "}");
    }

    /** The value of an expression; a promise is awaited. */
    Json value(String expression) throws IOException, InterruptedException {
        Json result = call(
                "Runtime.evaluate",
                "{\"returnByValue\":true,\"awaitPromise\":true,\"expression\":" + quoted(expression) + "}");
        if (!result.at("exceptionDetails").isNull()) {
            throw new AssertionError(expression + ": "
                    + result.at("exceptionDetails.exception.description").text());
        }
        return result.at("result.value");
    }

    /** Waits until an expression is true. */
    void await(String expression) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TRUE_WITHIN.toNanos();
        String tolerant = "(() => { try { return !!(" + expression + "); } catch (e) { return false; } })()";
        while (!value(tolerant).isTrue()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not true in time: " + expression + "\nproblems " + problems + "\npage "
                        + value("location.href + '\\n' + document.body.innerText")
                                .text());
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
    }

    /** Writes a value into the input with this name, as typing does. */
    void fill(String name, String text) throws IOException, InterruptedException {
        value("(() => { const field = document.querySelector('[name=\"" + name + "\"]'); field.value = " + quoted(text)
                + "; field.dispatchEvent(new Event('input', {bubbles: true})); })()");
    }

    /** Clicks the first button with this text, or else the first whose text begins with it. */
    void click(String text) throws IOException, InterruptedException {
        String buttons = "[...document.querySelectorAll('button:enabled')].find((one) => one.textContent.trim()";
        String button =
                "(" + buttons + " === " + quoted(text) + ") || " + buttons + ".startsWith(" + quoted(text) + ")))";
        await(button);
        value(button + ".click()");
    }

    /** Clicks the button with this text in the open dialog. */
    void confirm(String text) throws IOException, InterruptedException {
        String button = "[...document.querySelectorAll('dialog[open] button')]"
                + ".find((one) => one.textContent.trim() === " + quoted(text) + ")";
        await(button);
        value(button + ".click()");
    }

    /** Takes a picture of the whole page. */
    void picture(Path file, int width, int height, boolean isDark) throws IOException, InterruptedException {
        call(
                "Emulation.setEmulatedMedia",
                "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"" + (isDark ? "dark" : "light")
                        + "\"}]}");
        call(
                "Emulation.setDeviceMetricsOverride",
                "{\"width\":" + width + ",\"height\":" + height + ",\"deviceScaleFactor\":1,\"mobile\":false}");
        value("new Promise((done) => setTimeout(done, 400))");
        String data = call("Page.captureScreenshot", "{\"captureBeyondViewport\":true}")
                .at("data")
                .text();
        Files.write(file, Base64.getDecoder().decode(data));
    }

    /** Exceptions and errors of the page so far, those of a refused Content-Security-Policy too. */
    List<String> problems() throws IOException, InterruptedException {
        value("0"); // receives the events until now
        return List.copyOf(problems);
    }

    /** URLs of all requests so far. */
    List<String> requested() {
        return List.copyOf(requested);
    }

    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }

    @Override
    public void close() {
        socket.abort();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
