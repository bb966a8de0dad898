package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig.Markdown;
import org.jspecify.annotations.Nullable;

/**
 * The health of one origin host: its state, and the operator's override. Each change creates a new object, which
 * {@link OriginHost} stores. Times are epoch milliseconds.
 *
 * <pre>
 * UP --fail_threshold consecutive failures--> DOWN --retry_time has passed--> SUSPECT: one request as a trial
 * SUSPECT --trial answered--> UP, with slow start       SUSPECT --trial failed--> DOWN, for twice as long
 * </pre>
 *
 * <p>A request that began before a change to up or down must not affect the new state. Therefore each such change
 * increments a number, the term, and each request keeps the term in which it began.
 *
 * <p>Immutable.
 *
 * @param term number of changes to up or down, including failed trials; the beginning of a trial does not count
 * @param state the state found by requests and health checks; an operator's override takes precedence
 * @param failures number of consecutive failures
 * @param trials number of consecutive failed trials since the host was up
 * @param since time of the last change between up and down
 * @param waitsSince start of the wait for the next trial; valid while down
 * @param waitMillis duration of this wait by the group's rules, without jitter; valid while down
 * @param retryAt time of the next trial, which includes random jitter; valid while down
 * @param reason reason of the last failure; empty if there was none
 * @param byCheck whether health checks have marked the host down; then only health checks can mark it up
 * @param manualDown the operator's override, which keeps the host down; null for none
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
        @Nullable ManualDown manualDown) {

    /** The states of Traffic Server's host database. */
    public enum State {
        /** The host receives requests. */
        UP,
        /** The host receives no requests. */
        DOWN,
        /** One request is sent as a trial, to find out whether the host has recovered. */
        SUSPECT
    }

    /**
     * An operator's command to mark the host down.
     *
     * @param reason reason given by the operator
     * @param since time of the command
     * @param until end of the override; {@link Long#MAX_VALUE} if it lasts until an operator marks the host up
     */
    public record ManualDown(String reason, long since, long until) {
        boolean holds(long nowMillis) {
            return nowMillis < until;
        }
    }

    /** Limit of doublings of the wait. The maximum wait is reached before this limit with any settings. */
    private static final int DOUBLINGS_MAX = 30;

    static OriginHealth unknown() {
        return new OriginHealth(0, State.UP, 0, 0, 0, 0, 0, 0, "", false, null);
    }

    /** Returns true if the host receives requests normally. */
    public boolean isUp(long nowMillis) {
        return state == State.UP && !isManuallyDown(nowMillis);
    }

    /** Returns true if an operator's override keeps requests from the host. */
    public boolean isManuallyDown(long nowMillis) {
        return manualDown != null && manualDown.holds(nowMillis);
    }

    /**
     * Returns true if a trial is due. The trial is not delayed if the clock was set back.
     *
     * @param delayMillis additional delay, so that requests with a lower delay become trials first
     */
    boolean isTrialDue(long nowMillis, long delayMillis) {
        return state == State.DOWN
                && (nowMillis - delayMillis >= retryAt || nowMillis < since)
                && !isManuallyDown(nowMillis);
    }

    /**
     * Returns the health after a response.
     *
     * @param sentInTerm the term in which the request was sent
     */
    OriginHealth answered(int sentInTerm, long nowMillis) {
        if (sentInTerm != term) {
            return this;
        }
        if (state == State.UP) {
            return failures == 0
                    ? this
                    : new OriginHealth(term, state, 0, 0, since, 0, 0, 0, reason, false, manualDown);
        }
        return byCheck && state == State.DOWN ? this : up(nowMillis);
    }

    private OriginHealth up(long nowMillis) {
        return new OriginHealth(term + 1, State.UP, 0, 0, nowMillis, 0, 0, 0, reason, false, manualDown);
    }

    /** Returns the health after enough passed health checks, which began in the term {@code sentInTerm}. */
    OriginHealth checkedUp(int sentInTerm, long nowMillis) {
        return sentInTerm != term || state == State.UP ? this : up(nowMillis);
    }

    /** Returns the health after enough failed health checks. */
    OriginHealth checkedDown(String newReason, long nowMillis, Markdown rules) {
        if (state != State.UP && byCheck && reason.equals(newReason)) {
            return this;
        }
        long begun = state == State.UP ? nowMillis : since;
        long wait = wait(rules, 0);
        return new OriginHealth(
                term + 1,
                State.DOWN,
                failures,
                0,
                begun,
                nowMillis,
                wait,
                nowMillis + wait,
                newReason,
                true,
                manualDown);
    }

    /**
     * Returns the health after a failed request.
     *
     * @param sentInTerm the term in which the request was sent
     * @param jitter random number from 0 to 1, so that event loops and proxies do not begin trials at the same time
     */
    OriginHealth failed(String newReason, int sentInTerm, long nowMillis, Markdown rules, double jitter) {
        if (sentInTerm != term) {
            return this;
        }
        int more = failures + 1;
        if (state == State.UP && (rules.failThreshold() == 0 || more < rules.failThreshold())) {
            return new OriginHealth(
                    term, state, more, trials, since, waitsSince, waitMillis, retryAt, newReason, byCheck, manualDown);
        }
        return switch (state) {
            case UP -> down(more, 0, nowMillis, nowMillis, newReason, rules, jitter);
            case SUSPECT -> down(more, trials + 1, since, nowMillis, newReason, rules, jitter);
            // The request was sent although the host is down, because all hosts are down. The state does not change.
            case DOWN ->
                new OriginHealth(
                        term, state, more, trials, since, waitsSince, waitMillis, retryAt, reason, byCheck, manualDown);
        };
    }

    private OriginHealth down(
            int failed, int trialsFailed, long begun, long nowMillis, String newReason, Markdown rules, double jitter) {
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
                newReason,
                byCheck,
                manualDown);
    }

    /** Returns the wait for the next trial after {@code trialsFailed} failed trials, in milliseconds. */
    private static long wait(Markdown rules, int trialsFailed) {
        long doubled = rules.retryMillis() << Math.min(trialsFailed, DOUBLINGS_MAX);
        boolean overflown = doubled >> Math.min(trialsFailed, DOUBLINGS_MAX) != rules.retryMillis();
        return overflown ? rules.retryMillisMax() : Math.min(doubled, rules.retryMillisMax());
    }

    /**
     * Returns the health under changed rules. The wait of a host that is down gets the length that the new rules
     * require. If the new rules have no passive mark-down, a host that requests marked down is up.
     *
     * @param checked whether the host still has health checks, so that their result stays valid
     */
    OriginHealth underRules(Markdown rules, boolean checked, long nowMillis) {
        if (state == State.UP) {
            return this;
        }
        boolean downByCheck = byCheck && checked;
        if (rules.failThreshold() == 0 && !downByCheck) {
            return up(nowMillis);
        }
        long wait = wait(rules, trials);
        if (state != State.DOWN || (wait == waitMillis && downByCheck == byCheck)) {
            return this;
        }
        // The random jitter is scaled with the wait.
        long retry = waitsSince + (long) ((double) (retryAt - waitsSince) / waitMillis * wait);
        return new OriginHealth(
                term, state, failures, trials, since, waitsSince, wait, retry, reason, downByCheck, manualDown);
    }

    /** Returns the health after the beginning of a trial. */
    OriginHealth withTrialBegun() {
        return new OriginHealth(
                term,
                State.SUSPECT,
                failures,
                trials,
                since,
                waitsSince,
                waitMillis,
                retryAt,
                reason,
                byCheck,
                manualDown);
    }

    /**
     * Returns the health after a trial that ended without a result. The next trial is due immediately.
     *
     * @param sentInTerm the term in which the trial began
     */
    OriginHealth withTrialAbandoned(int sentInTerm) {
        return state == State.SUSPECT && sentInTerm == term
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
                        manualDown)
                : this;
    }

    /** Returns the health with another override by an operator; null removes the override. */
    OriginHealth markDown(@Nullable ManualDown override) {
        return new OriginHealth(
                term, state, failures, trials, since, waitsSince, waitMillis, retryAt, reason, byCheck, override);
    }

    /** Returns the health without an operator's override whose time is over. */
    OriginHealth withoutExpiredMark(long nowMillis) {
        return manualDown == null || manualDown.holds(nowMillis) ? this : markDown(null);
    }

    /** Returns the health after an operator's command to mark the host up, which applies in every state. */
    OriginHealth markUp(long nowMillis) {
        long begun = state == State.UP && manualDown == null ? since : nowMillis;
        return new OriginHealth(term + 1, State.UP, 0, 0, begun, 0, 0, 0, reason, false, null);
    }
}
