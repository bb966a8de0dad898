package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random purges of the packed product, hard and soft, by URL, prefix, host, tag and pattern, with undos, cancellations
 * and fills between them. The worker is killed at random times, also within purges and sweeps. Nothing that was purged
 * is served, and nothing that no purge in force covers is lost, compared with a {@link PurgeModel}.
 */
class KilledDuringPurgesTest {
    private static final long SEED = Long.getLong("millrace.seed", System.nanoTime());
    /** Purges between two ends of a worker. */
    private static final int PURGES_A_ROUND = 12;

    /** Life of a worker after which the launcher starts the next one at once. After shorter lives it waits. */
    private static final long HEALTHY_NANOS = Duration.ofMillis(2100).toNanos();

    private static final int FILLERS = 2;
    private static final Duration SWEPT_WITHIN = Duration.ofSeconds(90);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private final Random random = new Random(SEED);
    private PurgeModel model;
    private MillraceProcess proxy;

    private void start(int objects, String undoWindow) throws IOException {
        System.out.println("millrace.seed=" + SEED);
        model = new PurgeModel(objects);
        model.serveFrom(origin);
        proxy = product.launch()
                .origin(origin.url())
                .set("purge.undo_window", undoWindow)
                .start();
        audit();
        audit();
    }

    @Test
    void nothingPurgedIsServedAfterTwoKills() throws Exception {
        start(90, "1h");
        purgeAndKill(2, 0);
        finish();
    }

    /** With a window of a second, sweeps mark the responses of soft purges too. */
    @ParameterizedTest
    @ValueSource(strings = {"1h", "1s"})
    @Tag("nightly")
    @Timeout(900)
    void nothingPurgedIsServedAfterManyKills(String undoWindow) throws Exception {
        start(900, undoWindow);
        purgeAndKill(Integer.getInteger("millrace.purges", 500) / PURGES_A_ROUND + 1, HEALTHY_NANOS);
        awaitSweeps();
        long worker = proxy.worker().pid();
        proxy.killWorker();
        model.killed();
        proxy.awaitWorkerAfter(worker);
        audit();
        finish();
        assertTrue(model.hitsAfterUndo() > 0, model::toString);
    }

    private void finish() {
        System.out.println(model);
        assertEquals(List.of(), model.faults(), model::toString);
    }

    /**
     * Purges, and kills the worker once a round.
     *
     * @param lifeNanos time before a kill in which the worker is ready
     */
    private void purgeAndKill(int rounds, long lifeNanos) throws Exception {
        for (int round = 0; round < rounds && model.faults().isEmpty(); round++) {
            long worker = proxy.worker().pid();
            long readyNanos = System.nanoTime();
            int killAt = random.nextInt(PURGES_A_ROUND);
            try (PurgeFillers fillers = new PurgeFillers(proxy.port(), model, FILLERS, random)) {
                for (int i = 0; i < PURGES_A_ROUND; i++) {
                    if (i == killAt) {
                        awaitLife(readyNanos, lifeNanos);
                    }
                    Thread killer = i == killAt ? killSoon(worker) : null;
                    purge();
                    undoSometimes();
                    if (killer != null) {
                        killer.join();
                        model.killed();
                        proxy.awaitWorkerAfter(worker);
                    }
                }
                fillers.awaitMore(PURGES_A_ROUND);
            }
            audit();
        }
    }

    private static void awaitLife(long readyNanos, long lifeNanos) {
        await().atMost(Duration.ofSeconds(30)).until(() -> System.nanoTime() - readyNanos > lifeNanos);
    }

    /** Kills a worker after a random part of the time that a purge needs. */
    private Thread killSoon(long worker) {
        long delayNanos = random.nextInt(4_000_000);
        ProcessHandle process = ProcessHandle.of(worker).orElseThrow();
        Thread killer = new Thread(
                () -> {
                    long untilNanos = System.nanoTime() + delayNanos;
                    while (untilNanos - System.nanoTime() > 0) {
                        Thread.onSpinWait();
                    }
                    process.destroyForcibly();
                    process.onExit().join();
                },
                "killer");
        killer.start();
        return killer;
    }

    private void audit() throws IOException {
        try (PurgeFillers.Client client = new PurgeFillers.Client(proxy.port())) {
            model.audit(client::get);
        }
    }

    private void awaitSweeps() {
        await("all sweeps are done")
                .atMost(SWEPT_WITHIN)
                .pollInterval(Duration.ofMillis(200))
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(() ->
                        !proxy.admin().get("/v1/cache/purges?limit=1000").text().contains("\"sweep\":\"running\""));
    }

    private void purge() {
        boolean soft = random.nextInt(5) < 2;
        int some = random.nextInt(model.objects());
        String host = PurgeModel.host(some);
        String section = PurgeModel.section(some);
        int kind = random.nextInt(100);
        if (kind < 20) {
            purge(soft, "url", PurgeModel.url(some), number -> number == some);
        } else if (kind < 30) {
            IntPredicate inSection = number -> isIn(number, host, section);
            purge(soft, "prefix", "http://" + host + "/" + section + "/", inSection);
        } else if (kind < 33) {
            purge(soft, "host", host, number -> PurgeModel.host(number).equals(host));
        } else if (kind < 48) {
            purgeTag(soft, random.nextBoolean() ? host : null);
        } else if (kind < 55) {
            request(soft, host, PurgeModel.path(some), "", number -> number == some);
        } else if (kind < 62) {
            request(soft, host, "/" + section + "/.*", "", number -> isIn(number, host, section));
        } else if (kind < 70) {
            String tag = tag();
            request(
                    soft,
                    host,
                    "/",
                    "xkey: " + tag + "\r\n",
                    number -> PurgeModel.host(number).equals(host) && PurgeModel.hasTag(number, tag));
        } else {
            purgePattern(soft, host, section);
        }
    }

    private static boolean isIn(int number, String host, String section) {
        return PurgeModel.host(number).equals(host)
                && PurgeModel.section(number).equals(section);
    }

    private String tag() {
        return random.nextBoolean() ? "t" + random.nextInt(PurgeModel.T_TAGS) : "u" + random.nextInt(PurgeModel.U_TAGS);
    }

    private void purgeTag(boolean soft, @Nullable String site) {
        String tag = tag();
        String more = site == null ? "" : ",\"site\":\"" + site + "\"";
        post(
                soft,
                "\"tags\":[\"" + tag + "\"]" + more,
                number -> PurgeModel.hasTag(number, tag)
                        && (site == null || PurgeModel.host(number).equals(site)));
    }

    private void purgePattern(boolean soft, String host, String section) {
        String digit = Integer.toString(random.nextInt(10));
        String ending = PurgeModel.ENDINGS.get(random.nextInt(PurgeModel.ENDINGS.size()));
        String type = PurgeModel.TYPES.get(random.nextInt(PurgeModel.TYPES.size()));
        String tag = tag();
        switch (random.nextInt(4)) {
            case 0 ->
                purge(
                        soft,
                        "wildcard",
                        "http://" + host + "/" + section + "/*" + ending,
                        number -> isIn(number, host, section)
                                && PurgeModel.path(number).endsWith(ending));
            case 1 ->
                purge(
                        soft,
                        "regex",
                        "/" + section + "/[0-9]*" + digit + "[.]",
                        number -> PurgeModel.section(number).equals(section) && number % 10 == Integer.parseInt(digit));
            case 2 ->
                purge(
                        soft,
                        "where",
                        "tag == '" + tag + "' && type == '" + type + "'",
                        number -> PurgeModel.hasTag(number, tag)
                                && PurgeModel.type(number).equals(type));
            default ->
                purge(
                        soft,
                        "where",
                        "host == '" + host + "' && path =~ '" + digit + "[.]' && size > 100KiB",
                        number -> PurgeModel.host(number).equals(host)
                                && number % 10 == Integer.parseInt(digit)
                                && number % 20 == 0);
        }
    }

    private void purge(boolean soft, String kind, String value, IntPredicate covers) {
        post(soft, "\"" + kind + "\":\"" + value.replace("'", "\\\"") + "\"", covers);
    }

    /** Purges by the admin API, as millctl does. */
    private void post(boolean soft, String members, IntPredicate covers) {
        String json = "{" + members + ",\"mode\":\"" + (soft ? "soft" : "hard") + "\"}";
        PurgeModel.Purge purge = model.begin(json, soft, covers);
        try {
            AdminClient.Answer answer = proxy.admin().post("/v1/cache/purge", json);
            if (answer.status() == 200) {
                model.done(purge, answer.json().at("id").text());
            } else if (answer.status() == 429) {
                model.refused(purge);
            } else {
                assertTrue(answer.status() >= 500, () -> json + ": " + answer);
            }
        } catch (IOException e) {
            note(purge, e);
        }
    }

    /** Purges by a request, as content management systems do. */
    private void request(boolean soft, String host, String target, String fields, IntPredicate covers) {
        String text = "PURGE " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + fields
                + (soft ? "Fastly-Soft-Purge: 1\r\n" : "") + "\r\n";
        PurgeModel.Purge purge = model.begin(text.replace("\r\n", " "), soft, covers);
        try (RawClient client = RawClient.connect(proxy.port())) {
            RawResponse response = client.send(text).response();
            if (response.status() == 200 || response.status() == 404) {
                model.done(purge, "");
            } else {
                assertTrue(response.status() >= 500, response::toString);
            }
        } catch (IOException e) {
            note(purge, e);
        }
    }

    private static void note(PurgeModel.Purge purge, IOException e) {
        System.out.println("no answer: " + purge + ": " + e.getMessage());
    }

    /** At one of two calls, undoes a soft purge or cancels a hard one. Most purges cannot be cancelled any more. */
    private void undoSometimes() {
        List<PurgeModel.Purge> candidates = new ArrayList<>(model.inForce());
        candidates.removeIf(purge -> purge.id().isEmpty());
        if (candidates.isEmpty() || random.nextBoolean()) {
            return;
        }
        int last = Math.min(candidates.size(), 6);
        PurgeModel.Purge purge = candidates.get(candidates.size() - 1 - random.nextInt(last));
        model.undoBegins(purge);
        String verb = purge.isSoft() ? "undo" : "cancel";
        try {
            AdminClient.Answer answer =
                    proxy.admin().post("/v1/cache/purge/" + verb, "{\"id\":\"" + purge.id() + "\"}");
            if (answer.status() == 200 && purge.isSoft()) {
                model.undone(purge);
            } else if (answer.status() == 409 || answer.status() == 404) {
                model.undoRefused(purge);
            } else {
                assertTrue(answer.status() == 200 || answer.status() >= 500, answer::toString);
            }
        } catch (IOException e) {
            System.out.println("no answer to " + verb + " of " + purge + ": " + e.getMessage());
        }
    }
}
