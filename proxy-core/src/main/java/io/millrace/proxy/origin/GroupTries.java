package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.fetch.OriginFailure;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** The tries of one request at the hosts of an origin group, with their results. Confined to one event loop. */
public final class GroupTries {
    /** The hash key of a request, for load-balancing policies that hash. */
    public interface Key {
        /**
         * Returns the hash of the parts of the request that the group's settings select. Returns any value if the
         * policy does not hash.
         */
        long hash(OriginGroupConfig config);
    }

    private final GroupView view;
    private final long key;
    private final long firstMillis;
    private final BitSet tried;
    /** Indexes of the hosts that have answered with a status for which the group requires a retry on another host. */
    private final BitSet refused = new BitSet(0);

    private @Nullable StringBuilder history;
    private int tries;
    /** Index of the host that was tried last. */
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
     * Returns the next host, if the request may be tried again.
     *
     * @param mayMove whether the request could be retried on another host if the returned host fails
     * @return null if no host is available, or the limit of tries is reached
     */
    public @Nullable Try next(boolean mayMove, long nowMillis) {
        OriginGroupConfig.Retry rules = view.group().config().retry();
        boolean late = tries > 0 && nowMillis - firstMillis >= rules.withinMillis();
        if (tries >= rules.tries() || late) {
            return null;
        }
        // A trial checks whether a host that was down has recovered. A request that has already failed once is used
        // for a trial only if no other request began it within a further retry interval.
        boolean mayBeginTrialAtOnce = mayMove && tries == 0 && rules.tries() > 1;
        int chosen = view.choose(key, tried, mayBeginTrialAtOnce, nowMillis);
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

    /**
     * Selects a host again after all hosts were tried. A host that did not respond may have recovered.
     * Excludes the last host, and hosts whose status required a retry.
     */
    private int chooseAgain(long nowMillis) {
        BitSet excluded = (BitSet) refused.clone();
        excluded.set(last);
        return view.chooseHealthy(key, excluded, nowMillis);
    }

    /**
     * Returns true if the tries should be logged. This holds if more than one host was tried, or none was available.
     */
    public boolean isWorthLogging() {
        return tries != 1;
    }

    /** Returns the tries as text: {@code http://10.0.0.1:8080 (connect-refused), http://10.0.0.2:8080 (503)}. */
    public String text() {
        return history == null ? "no host is up" : history.toString();
    }

    /**
     * One try at one host. It ends with the first call of {@link #answered}, {@link #failed}, {@link #refused} or
     * {@link #abandoned}, or by {@link #responded} with a status that counts as a failure. Later calls have no effect.
     */
    public final class Try {
        private final int index;
        private final boolean trial;
        /**
         * The host's term at the start of the try. The term changes with each change between up and down, so that
         * results of older tries can be ignored.
         */
        private final int term;

        private boolean ended;
        /** The host's consecutive failures when the head of a successful response arrived; -1 until it arrives. */
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
         * Records the head of a response.
         *
         * @param version HTTP version of the response: 0 for HTTP/1.0, 1 for HTTP/1.1, 2 for HTTP/2
         * @param nanos time since the request was sent
         */
        public void responded(int status, int version, long nowMillis, long nanos) {
            view.load(index).responded(nanos);
            if (!view.group().isFailure(status)) {
                view.load(index).answered(version, nowMillis);
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

        /** Ends the try with a complete response. */
        public void answered(int status, long nowMillis) {
            if (!ended) {
                end();
                if (view.group().isRetried(status)) {
                    // A status that leads to a retry is neither a failure of the host nor a sign of health.
                    abandonTrial();
                } else {
                    host().answered(term, nowMillis);
                }
            }
        }

        /** Ends the try with a failure: no response, or an incomplete response. */
        public void failed(OriginFailure.Reason reason, long nowMillis) {
            if (isOfHost(reason)) {
                failed(reason.text(), nowMillis);
            } else {
                addToHistory(reason.text());
                abandoned();
            }
        }

        private void failed(String reason, long nowMillis) {
            if (ended) {
                return;
            }
            end();
            addToHistory(reason);
            view.load(index).failed(nowMillis);
            // If all hosts are down, requests are also sent to a host that another request tests. Such requests
            // must not decide that trial.
            if (trial || host().health().state() != OriginHealth.State.SUSPECT) {
                host().failed(reason, term, nowMillis, view.markdown(), view.jitter());
            }
        }

        /** Ends the try because the status requires a retry: the request goes to another host. */
        public void refused(int status) {
            if (!ended) {
                addToHistory(Integer.toString(status));
                abandoned();
            }
        }

        /**
         * Ends the try without a complete response, because the response is no longer needed. Counts as a success
         * if a successful head arrived and no other request failed since.
         */
        public void abandoned() {
            if (ended) {
                return;
            }
            end();
            OriginHealth now = host().health();
            if (now.state() == OriginHealth.State.UP && now.failures() == failuresAtHead) {
                host().answered(term, now.since());
            }
            abandonTrial();
        }

        private void abandonTrial() {
            if (trial) {
                host().abandonTrial(term);
            }
        }

        private void end() {
            ended = true;
            view.load(index).ended();
        }

        private void addToHistory(String reason) {
            StringBuilder text = history;
            if (text == null) {
                text = new StringBuilder();
                history = text;
            } else {
                text.append(", ");
            }
            text.append(host()).append(" (").append(reason).append(')');
        }

        /**
         * Returns true if the host caused the failure. Limits of this proxy and cancelled requests are not
         * failures of the host.
         */
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
