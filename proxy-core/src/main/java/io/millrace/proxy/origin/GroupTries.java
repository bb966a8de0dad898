package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.fetch.OriginFailure;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * The hosts of a group that one request tries, one after the other, and what came of each. Confined to one
 * event loop.
 */
public final class GroupTries {
    /** What a policy that hashes decides by. */
    public interface Key {
        /** The hash that the group's settings ask for; of no meaning where they ask for none. */
        long hash(OriginGroupConfig config);
    }

    private final GroupView view;
    private final long key;
    private final long firstMillis;
    private final BitSet tried;
    /** Those of them that have answered, with a status that is no answer. */
    private final BitSet refused = new BitSet(0);

    private @Nullable StringBuilder told;
    private int tries;
    private int last;

    GroupTries(GroupView view, long key, long nowMillis) {
        this.view = view;
        this.key = key;
        firstMillis = nowMillis;
        tried = new BitSet(view.group().hosts().size());
    }

    public OriginGroup group() {
        return view.group();
    }

    /**
     * The next host, if the request may have another.
     *
     * @param mayMove whether another host can have the request if this one does not answer it
     * @return null when there is none, or none more is allowed
     */
    public @Nullable Try next(boolean mayMove, long nowMillis) {
        OriginGroupConfig.Retry rules = view.group().config().retry();
        boolean late = tries > 0 && nowMillis - firstMillis >= rules.withinMillis();
        if (tries >= rules.tries() || late) {
            return null;
        }
        // Who has failed once already is not the one to find out whether a host is up again.
        boolean mayGoOnTrial = mayMove && tries == 0 && rules.tries() > 1;
        int chosen = view.choose(key, tried, mayGoOnTrial, nowMillis);
        boolean isPeering = view.group().config().ringMode() == OriginGroupConfig.RingMode.PEERING_RING;
        if (chosen < 0 && tries > 0 && !isPeering) {
            chosen = chooseAgain(nowMillis);
        }
        if (chosen < 0) {
            return null;
        }
        tries++;
        tried.set(chosen);
        last = chosen;
        return new Try(chosen);
    }

    /** All were tried: one that gave no answer may be back by now, if it is not the one that has just failed. */
    private int chooseAgain(long nowMillis) {
        BitSet out = (BitSet) refused.clone();
        out.set(last);
        return view.chooseUp(key, out, nowMillis);
    }

    /** Whether more than one host was tried, or none could be. */
    public boolean isWorthTelling() {
        return tries != 1;
    }

    /** What was tried, for people: {@code http://10.0.0.1:8080 (connect-refused), http://10.0.0.2:8080 (503)}. */
    public String told() {
        return told == null ? "no host is up" : told.toString();
    }

    /** One host's turn. Exactly one of {@link #answered}, {@link #failed} and {@link #left} ends it; what comes after is ignored. */
    public final class Try {
        private final int index;
        private final boolean trial;
        /** The host's term when it was asked. */
        private final int term;

        private boolean ended;
        /** The host's failures in a row when the head of an answer came that speaks for it; -1 before. */
        private int failuresAtHead = -1;

        private Try(int index) {
            this.index = index;
            term = view.host(index).health().term();
            trial = view.isOnTrial();
            view.load(index).began();
        }

        public OriginHost host() {
            return view.host(index);
        }

        /**
         * The head of a response came.
         *
         * @param minorVersion of the HTTP/1 that it came in
         * @param nanos since the request was sent
         */
        public void responded(int status, int minorVersion, long nowMillis, long nanos) {
            view.load(index).responded(nanos);
            if (!view.group().isFailure(status)) {
                view.load(index).answered(minorVersion, nowMillis);
            }
            if (view.group().isRetried(status)) {
                refused.set(index);
            }
            if (view.group().isFailure(status)) {
                failed(Integer.toString(status), nowMillis);
            } else if (!view.group().isRetried(status)) {
                if (trial) {
                    host().answered(term, nowMillis);
                }
                failuresAtHead = host().health().failures();
            }
        }

        /** The whole of it came. */
        public void answered(int status, long nowMillis) {
            if (!ended) {
                end();
                if (view.group().isRetried(status)) {
                    // Neither a failure of the host nor a sign of its health.
                    leaveTrial();
                } else {
                    host().answered(term, nowMillis);
                }
            }
        }

        /** No response came, or not the whole of one. */
        public void failed(OriginFailure.Reason reason, long nowMillis) {
            if (isOfHost(reason)) {
                failed(reason.text(), nowMillis);
            } else {
                note(reason.text());
                left();
            }
        }

        private void failed(String why, long nowMillis) {
            if (ended) {
                return;
            }
            end();
            note(why);
            view.load(index).failed(nowMillis);
            // What was sent beside the trial, as all were down, does not decide it.
            if (trial || host().health().state() != OriginHealth.State.SUSPECT) {
                host().failed(why, term, nowMillis, view.markdown(), view.jitter());
            }
        }

        /** Another host is asked, as this one answered with a status that is no answer. */
        public void refused(int status) {
            if (!ended) {
                note(Integer.toString(status));
                left();
            }
        }

        /** Nobody waits for it any longer, or for the rest of its answer. */
        public void left() {
            if (ended) {
                return;
            }
            end();
            OriginHealth now = host().health();
            if (now.state() == OriginHealth.State.UP && now.failures() == failuresAtHead) {
                host().answered(term, now.since());
            }
            leaveTrial();
        }

        private void leaveTrial() {
            if (trial) {
                host().leaveTrial(term);
            }
        }

        private void end() {
            ended = true;
            view.load(index).ended();
        }

        private void note(String why) {
            StringBuilder text = told;
            if (text == null) {
                text = new StringBuilder();
                told = text;
            } else {
                text.append(", ");
            }
            text.append(host()).append(" (").append(why).append(')');
        }

        /** Limits of this side, and its own end, say nothing of a host. */
        private static boolean isOfHost(OriginFailure.Reason reason) {
            return switch (reason) {
                case DNS,
                        CONNECT_REFUSED,
                        CONNECT_TIMEOUT,
                        TLS,
                        FIRST_BYTE_TIMEOUT,
                        IDLE_TIMEOUT,
                        RESET,
                        TRUNCATED,
                        BAD_RESPONSE -> true;
                default -> false;
            };
        }
    }
}
