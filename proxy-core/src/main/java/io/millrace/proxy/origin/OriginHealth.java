package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig.Markdown;
import org.jspecify.annotations.Nullable;

/**
 * The health of one host: its state with time and reason, and the operator's override. A change creates a new instance;
 * {@link OriginHost} replaces the old one. Times are epoch milliseconds.
 *
 * <pre>
 * UP --fail_threshold failures in a row--> DOWN --retry_time is over--> SUSPECT: one request on trial
 * SUSPECT --it is answered--> UP, with slow start       SUSPECT --it fails--> DOWN, for twice as long
 * </pre>
 *
 * <p>A request that began before a state change does not affect the new state. Every change increments the term, and
 * each request remembers the term in which it began.
 *
 * <p>Immutable.
 *
 * @param term number of state changes and failed trials
 * @param state state for requests; an operator's override takes precedence
 * @param failures number of consecutive failures
 * @param trials number of consecutive failed trials since the host was up
 * @param since start of the state
 * @param waitsSince start of the wait for the next trial; valid while down
 * @param waitMillis duration of the wait by the group's rules; valid while down
 * @param retryAt time of the next trial, which includes random jitter; valid while down
 * @param reason reason of the last failure; empty if there was none
 * @param byCheck whether health checks have marked the host down: only they can mark it up then
 * @param put the operator's override; null for none
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

    /** The states of Traffic Server's host database. */
    public enum State {
        /** The host receives requests. */
        UP,
        /** The host receives no requests. */
        DOWN,
        /** One request is on trial, to find out whether the host is up again. */
        SUSPECT
    }

    /**
     * An operator's command to mark the host down.
     *
     * @param reason reason given by the operator
     * @param since time of the command
     * @param until end of the override; {@link Long#MAX_VALUE} if it lasts until the host is put up
     */
    public record Put(String reason, long since, long until) {
        boolean holds(long nowMillis) {
            return nowMillis < until;
        }
    }

    /** Limit of doublings. With more, any pair of settings reaches the maximum. */
    private static final int DOUBLINGS_MAX = 30;

    static OriginHealth unknown() {
        return new OriginHealth(0, State.UP, 0, 0, 0, 0, 0, 0, "", false, null);
    }

    /** Returns true if the host receives requests normally. */
    public boolean isUp(long nowMillis) {
        return state == State.UP && !isPutDown(nowMillis);
    }

    /** Returns true if an operator's override keeps requests from the host. */
    public boolean isPutDown(long nowMillis) {
        return put != null && put.holds(nowMillis);
    }

    /**
     * Returns true if a trial is due. A clock that was set back does not delay the trial.
     *
     * @param delayMillis additional delay, in which other requests have priority
     */
    boolean isTrialDue(long nowMillis, long delayMillis) {
        return state == State.DOWN
                && (nowMillis - delayMillis >= retryAt || nowMillis < since)
                && !isPutDown(nowMillis);
    }

    /**
     * Records a response.
     *
     * @param askedIn the term in which the request was sent
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

    /** Records passed health checks that began in the term {@code askedIn}. */
    OriginHealth checkedUp(int askedIn, long nowMillis) {
        return askedIn != term || state == State.UP ? this : up(nowMillis);
    }

    /** Records failed health checks. */
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
     * Records a failed request.
     *
     * @param askedIn the term in which the request was sent
     * @param jitter 0 to 1; prevents simultaneous trials by loops and proxies
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
            // A request that was sent although the host is down, because all hosts are: the state does not change.
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

    /** Returns the wait for the next trial after {@code trialsFailed} failed trials, in milliseconds. */
    private static long wait(Markdown rules, int trialsFailed) {
        long doubled = rules.retryMillis() << Math.min(trialsFailed, DOUBLINGS_MAX);
        boolean overflown = doubled >> Math.min(trialsFailed, DOUBLINGS_MAX) != rules.retryMillis();
        return overflown ? rules.retryMillisMax() : Math.min(doubled, rules.retryMillisMax());
    }

    /**
     * Applies changed rules. A host that is down waits as long as the new rules require, from the start of its wait. If
     * the rules have no passive mark-down, a host that was marked down by requests is up.
     *
     * @param checked whether the host has health checks, so that their result still counts
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
        // The random jitter is scaled with the wait.
        long retry = waitsSince + (long) ((double) (retryAt - waitsSince) / waitMillis * wait);
        return new OriginHealth(term, state, failures, trials, since, waitsSince, wait, retry, reason, found, put);
    }

    /** Returns the health during a trial. */
    OriginHealth onTrial() {
        return new OriginHealth(
                term, State.SUSPECT, failures, trials, since, waitsSince, waitMillis, retryAt, reason, byCheck, put);
    }

    /**
     * Returns the health after a trial, begun in the term {@code askedIn}, that ended without a result: the next one is
     * due at once.
     */
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

    /** Returns the health after an operator's command to mark the host up, whatever its state was. */
    OriginHealth putUp(long nowMillis) {
        long begun = state == State.UP && put == null ? since : nowMillis;
        return new OriginHealth(term + 1, State.UP, 0, 0, begun, 0, 0, 0, reason, false, null);
    }
}
