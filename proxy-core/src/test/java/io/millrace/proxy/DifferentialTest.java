package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.Rfc9111Model.Expected;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of requests and responses, each for its own URL, evaluated by a small model of RFC 9111 and by the
 * proxy over real sockets. Both must agree on every response and on the requests to the origin.
 *
 * <p>{@code -Dmillrace.histories=10000} sets the number, {@code -Dmillrace.seed=N} the first seed. A failure names the
 * seed that reproduces it, with {@code -Dmillrace.histories=1}.
 */
class DifferentialTest {
    private static final int HISTORIES =
            Integer.getInteger("millrace.histories", 1000 * Integer.getInteger("millrace.test.effort", 1));
    private static final long FIRST_SEED = Long.getLong("millrace.seed", 1);
    private static final int STEPS = 12;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private long now = ProxyExtension.START_MILLIS / 1000;
    private HistoryOrigin origin;
    private RawClient client;

    @Test
    void proxyAndModelAgree_rfc9111() throws Exception {
        origin = new HistoryOrigin(() -> now);
        proxy.start(origin);
        System.out.println("seeds " + FIRST_SEED + " to " + (FIRST_SEED + HISTORIES - 1));
        for (long seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
            History history = new History(seed);
            while (!history.isOver()) {
                history.step();
            }
        }
    }

    /**
     * Runs all histories step by step in turn. Between the steps the proxy is restarted, and keeps the objects on disk.
     */
    @Test
    void proxyAndModelAgreeOverRestarts_rfc9111(@TempDir Path directory) throws Exception {
        origin = new HistoryOrigin(() -> now);
        proxy.start(origin, config -> config.storage(directory.resolve("volume"), 256L << 20));
        long last = FIRST_SEED + Math.max(1, HISTORIES / 10) - 1;
        System.out.println("seeds " + FIRST_SEED + " to " + last);
        List<History> histories = new ArrayList<>();
        for (long seed = FIRST_SEED; seed <= last; seed++) {
            histories.add(new History(seed));
        }
        for (int turn = 0; turn < STEPS; turn++) {
            for (History history : histories) {
                if (!history.isOver()) {
                    history.step();
                }
            }
            proxy.settle();
            client.close();
            client = null;
            proxy.restart();
        }
    }

    /** The history of one URL. */
    private final class History {
        private final long seed;
        private final HistoryStep.Maker maker;
        private final Rfc9111Model model = new Rfc9111Model();
        private final List<String> told = new ArrayList<>();

        History(long seed) {
            this.seed = seed;
            this.maker = new HistoryStep.Maker(seed);
        }

        boolean isOver() {
            return told.size() == STEPS || model.isOver();
        }

        void step() throws IOException {
            HistoryStep step = maker.step();
            boolean head = step.ask().method().equals("HEAD");
            // The part of a body that a response did not need may still be in transfer.
            proxy.settle();
            now += step.pause();
            proxy.advanceSeconds(step.pause());
            origin.stands(step.origin());
            Expected expected = model.expect(step, now);
            told.add("at " + now + " " + step.origin() + "\n" + step.ask().wire("/" + seed) + "expected: " + expected);
            int askedBefore = origin.asked();
            RawClient.Response response = send(step.ask().wire("/" + seed), head);
            boolean asked = origin.asked() > askedBefore;
            String story = "seed " + seed + ", step " + told.size() + "\n" + String.join("\n", told) + "\ngot, "
                    + (asked ? "with" : "without") + " the origin:\n" + response.head();
            check(expected, response, asked, head, story);
        }
    }

    private RawClient.Response send(String request, boolean head) throws IOException {
        if (client == null) {
            client = proxy.client();
        }
        client.send(request);
        RawClient.Response response = head ? client.head() : client.response();
        if ("close".equals(response.field("connection"))) {
            client.close();
            client = null;
        }
        return response;
    }

    private static void check(
            Expected expected, RawClient.Response response, boolean asked, boolean head, String story) {
        assertEquals(expected.asksOrigin(), asked, story);
        if (expected.status() == Expected.ANY_ERROR) {
            assertEquals(5, response.status() / 100, story);
            return;
        }
        assertEquals(expected.status(), response.status(), story);
        if (expected.content() != null && !head) {
            assertEquals(expected.content(), response.text(), story);
        }
        if (expected.tag() != null) {
            assertEquals(expected.tag(), response.field("etag"), story);
        }
        if (expected.status() == 206 || expected.status() == 416) {
            assertEquals(expected.contentRange(), response.field("content-range"), story);
        }
        boolean aged = (expected.status() == 200 || expected.status() == 206) && expected.age() >= HistoryStep.ABSENT;
        if (aged) {
            String age = expected.age() == HistoryStep.ABSENT ? null : Long.toString(expected.age());
            assertEquals(age, response.field("age"), story);
        }
    }
}
