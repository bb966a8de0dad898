package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig.Markdown;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one host: whether it is up, since when and why, and what an operator has said of it. Each change is a new
 * instance; {@link OriginHost} swaps them. Times are epoch milliseconds.
 *
 * <pre>
 *   UP --fail_threshold failures in a row--> DOWN --retry_time is over--> SUSPECT: one request on trial
 *   SUSPECT --it is answered--> UP, with slow start       SUSPECT --it fails--> DOWN, for twice as long
 * </pre>
 *
 * <p>What was begun before a change of these says nothing of the host since: each begins a new term, and who asks the host remembers
 * the term in which it asked.
 *
 * <p>Immutable.
 *
 * @param term counts how often it went down, came back or failed its trial
 * @param state as seen by requests; an operator's word goes before it
 * @param failures in a row
 * @param trials trials in a row that failed, since it was up
 * @param since when the state began
 * @param waitsSince when it began to wait for its next trial; of meaning while down
 * @param waitMillis how long it waits by its group's rules; of meaning while down
 * @param retryAt when it may be tried, which is later than that by chance; of meaning while down
 * @param reason what the last failure was; empty while there was none
 * @param byCheck whether health checks have found it down: then they alone find it up
 * @param put what an operator has said; null for nothing
 */
public record OriginHealth(
        int term,
        State state,
        int failures,
        int trials,
        long since,
        long waitsSince,
        long waitMillis,
        long retryAt,
        String reason,
        boolean byCheck,
        @Nullable Put put) {

    /** As Traffic Server's host database has them. */
    public enum State {
        /** It gets requests. */
        UP,
        /** It gets none. */
        DOWN,
        /** One request is on its way to see whether it is up again. */
        SUSPECT
    }

    /**
     * An operator has put it down.
     *
     * @param reason in the operator's words
     * @param since when
     * @param until until when; {@link Long#MAX_VALUE} for until it is put up
     */
    public record Put(String reason, long since, long until) {
        boolean holds(long nowMillis) {
            return nowMillis < until;
        }
    }

    /** Beyond this the longest time is reached for any two settings. */
    private static final int DOUBLINGS_MAX = 30;

    static OriginHealth unknown() {
        return new OriginHealth(0, State.UP, 0, 0, 0, 0, 0, 0, "", false, null);
    }

    /** Whether it gets requests like any other. */
    public boolean isUp(long nowMillis) {
        return state == State.UP && !isPutDown(nowMillis);
    }

    /** Whether an operator keeps it from requests. */
    public boolean isPutDown(long nowMillis) {
        return put != null && put.holds(nowMillis);
    }

    /**
     * Whether it is time to try whether it is up again. A clock that was set back does not put that off.
     *
     * @param delayMillis how much longer to leave it to others
     */
    boolean isTrialDue(long nowMillis, long delayMillis) {
        return state == State.DOWN
                && (nowMillis - delayMillis >= retryAt || nowMillis < since)
                && !isPutDown(nowMillis);
    }

    /**
     * A request was answered.
     *
     * @param askedIn the term in which it was sent
     */
    OriginHealth answered(int askedIn, long nowMillis) {
        if (askedIn != term) {
            return this;
        }
        if (state == State.UP) {
            return failures == 0 ? this : new OriginHealth(term, state, 0, 0, since, 0, 0, 0, reason, false, put);
        }
        return byCheck && state == State.DOWN ? this : up(nowMillis);
    }

    private OriginHealth up(long nowMillis) {
        return new OriginHealth(term + 1, State.UP, 0, 0, nowMillis, 0, 0, 0, reason, false, put);
    }

    /** Checks that began in a term find it up. */
    OriginHealth checkedUp(int askedIn, long nowMillis) {
        return askedIn != term || state == State.UP ? this : up(nowMillis);
    }

    /** Checks find it down. */
    OriginHealth checkedDown(String why, long nowMillis, Markdown rules) {
        if (state != State.UP && byCheck && reason.equals(why)) {
            return this;
        }
        long begun = state == State.UP ? nowMillis : since;
        long wait = wait(rules, 0);
        return new OriginHealth(
                term + 1, State.DOWN, failures, 0, begun, nowMillis, wait, nowMillis + wait, why, true, put);
    }

    /**
     * One was not.
     *
     * @param askedIn the term in which it was sent
     * @param jitter 0 to 1, so that loops and proxies do not all come back at the same moment
     */
    OriginHealth failed(String why, int askedIn, long nowMillis, Markdown rules, double jitter) {
        if (askedIn != term) {
            return this;
        }
        int more = failures + 1;
        if (state == State.UP && (rules.failThreshold() == 0 || more < rules.failThreshold())) {
            return new OriginHealth(
                    term, state, more, trials, since, waitsSince, waitMillis, retryAt, why, byCheck, put);
        }
        return switch (state) {
            case UP -> down(more, 0, nowMillis, nowMillis, why, rules, jitter);
            case SUSPECT -> down(more, trials + 1, since, nowMillis, why, rules, jitter);
            // One that was sent although it is down, as all are: it changes nothing.
            case DOWN ->
                new OriginHealth(
                        term, state, more, trials, since, waitsSince, waitMillis, retryAt, reason, byCheck, put);
        };
    }

    private OriginHealth down(
            int failed, int trialsFailed, long begun, long nowMillis, String why, Markdown rules, double jitter) {
        long wait = wait(rules, trialsFailed);
        return new OriginHealth(
                term + 1,
                State.DOWN,
                failed,
                trialsFailed,
                begun,
                nowMillis,
                wait,
                nowMillis + wait + (long) (wait * jitter / 10),
                why,
                byCheck,
                put);
    }

    /** How long a host that is down waits for its next trial. */
    private static long wait(Markdown rules, int trialsFailed) {
        long doubled = rules.retryMillis() << Math.min(trialsFailed, DOUBLINGS_MAX);
        boolean overflown = doubled >> Math.min(trialsFailed, DOUBLINGS_MAX) != rules.retryMillis();
        return overflown ? rules.retryMillisMax() : Math.min(doubled, rules.retryMillisMax());
    }

    /**
     * These rules hold from now on: a host that is down waits as long as they say, from when it began to wait, and one that was marked down by requests is up
     * where they mark none.
     *
     * @param checked whether it is checked, so that a check's word still counts
     */
    OriginHealth underRules(Markdown rules, boolean checked, long nowMillis) {
        if (state == State.UP) {
            return this;
        }
        boolean found = byCheck && checked;
        if (rules.failThreshold() == 0 && !found) {
            return up(nowMillis);
        }
        long wait = wait(rules, trials);
        if (state != State.DOWN || (wait == waitMillis && found == byCheck)) {
            return this;
        }
        // What chance has added stays in proportion.
        long retry = waitsSince + (long) ((double) (retryAt - waitsSince) / waitMillis * wait);
        return new OriginHealth(term, state, failures, trials, since, waitsSince, wait, retry, reason, found, put);
    }

    /** Somebody tries it. */
    OriginHealth onTrial() {
        return new OriginHealth(
                term, State.SUSPECT, failures, trials, since, waitsSince, waitMillis, retryAt, reason, byCheck, put);
    }

    /** The trial that was begun in a term ended without telling anything: the next may be at once. */
    OriginHealth trialLeft(int askedIn) {
        return state == State.SUSPECT && askedIn == term
                ? new OriginHealth(
                        term,
                        State.DOWN,
                        failures,
                        trials,
                        since,
                        waitsSince,
                        waitMillis,
                        retryAt,
                        reason,
                        byCheck,
                        put)
                : this;
    }

    OriginHealth putDown(Put by) {
        return new OriginHealth(
                term, state, failures, trials, since, waitsSince, waitMillis, retryAt, reason, byCheck, by);
    }

    /** An operator says that it is up, whatever was seen of it. */
    OriginHealth putUp(long nowMillis) {
        long begun = state == State.UP && put == null ? since : nowMillis;
        return new OriginHealth(term + 1, State.UP, 0, 0, begun, 0, 0, 0, reason, false, null);
    }
}
