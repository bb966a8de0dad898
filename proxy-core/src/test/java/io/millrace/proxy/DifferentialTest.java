package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.Rfc9111Model.Expected;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random request and response histories, each for a URL of its own, judged by a small model of RFC 9111 and by the proxy over real
 * sockets: they agree on every answer and on when the origin is asked.
 *
 * <p>{@code -Dmillrace.histories=10000} runs that many, {@code -Dmillrace.seed=N} begins with that seed; a failure names the seed
 * that alone shows it, with {@code -Dmillrace.histories=1}.
 */
class DifferentialTest {
    private static final int HISTORIES = Integer.getInteger("millrace.histories", 3000);
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
            runHistory(seed);
        }
    }

    private void runHistory(long seed) throws IOException {
        HistoryStep.Maker maker = new HistoryStep.Maker(seed);
        Rfc9111Model model = new Rfc9111Model();
        List<String> told = new ArrayList<>();
        for (int i = 0; i < STEPS && !model.isOver(); i++) {
            HistoryStep step = maker.step();
            // What an answer did not need of a body is still on its way.
            proxy.settle();
            now += step.pause();
            proxy.advanceSeconds(step.pause());
            origin.stands(step.origin());
            Expected expected = model.expect(step, now);
            told.add("at " + now + " " + step.origin() + "\n" + step.ask().wire("/" + seed) + "expected: " + expected);
            int askedBefore = origin.asked();
            RawClient.Response response =
                    send(step.ask().wire("/" + seed), step.ask().method().equals("HEAD"));
            String story = "seed " + seed + ", step " + i + "\n" + String.join("\n", told) + "\ngot, "
                    + (origin.asked() > askedBefore ? "with" : "without") + " the origin:\n" + response.head();
            check(
                    expected,
                    response,
                    origin.asked() > askedBefore,
                    step.ask().method().equals("HEAD"),
                    story);
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
