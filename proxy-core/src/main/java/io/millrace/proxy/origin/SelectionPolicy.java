package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig.Policy;

/**
 * The load-balancing policies, which select the host for a request. {@link Candidates} holds all state. The
 * policies use no I/O, clock or random numbers.
 */
enum SelectionPolicy {
    /**
     * Smooth weighted round robin. Each selection adds to each host's credit the weight of that host. It selects the
     * host with the highest credit, and subtracts the sum of all weights from that credit.
     */
    ROUND_ROBIN {
        @Override
        int choose(Candidates all, long key) {
            long weightSum = 0;
            int best = -1;
            for (int i = 0; i < all.size(); i++) {
                if (all.weights[i] > 0) {
                    weightSum += all.weights[i];
                    all.credit[i] += all.weights[i];
                    best = best < 0 || all.credit[i] > all.credit[best] ? i : best;
                } else {
                    // An unavailable host gains no credit.
                    all.credit[i] = 0;
                }
            }
            if (best >= 0) {
                all.credit[best] -= weightSum;
            }
            return best;
        }
    },

    /**
     * Selects the host with the fewest requests in progress per weight, including the new request. Among equal hosts,
     * selects by round robin.
     */
    LEAST_LOADED {
        @Override
        int choose(Candidates all, long key) {
            int best = -1;
            for (int n = 1; n <= all.size(); n++) {
                int i = (all.last + n) % all.size();
                if (all.weights[i] > 0 && (best < 0 || isLess(all, i, best))) {
                    best = i;
                }
            }
            return best;
        }

        private boolean isLess(Candidates all, int a, int b) {
            return (all.underWay[a] + 1L) * all.weights[b] < (all.underWay[b] + 1L) * all.weights[a];
        }
    },

    /**
     * Weighted rendezvous hashing with bounded loads. Selects the host with the highest score, computed from the
     * hashes of host and key. If a host is added or removed, only the keys of this host move. Skips a host with
     * more than 1.25 times its share of the requests in progress.
     */
    CONSISTENT_HASH {
        @Override
        int choose(Candidates all, long key) {
            long weights = 0;
            long underWay = 1;
            for (int i = 0; i < all.size(); i++) {
                if (all.weights[i] > 0) {
                    weights += all.weights[i];
                    underWay += all.underWay[i];
                }
            }
            int best = -1;
            double highestScore = 0;
            for (int i = 0; i < all.size(); i++) {
                if (all.weights[i] > 0 && !isFull(all, i, underWay, weights)) {
                    double score = score(all, i, key);
                    if (best < 0 || score > highestScore) {
                        best = i;
                        highestScore = score;
                    }
                }
            }
            return best;
        }

        /**
         * Returns true if one more request would exceed {@code ceil(1.25 * share)}. At least one host is always below
         * that bound.
         */
        private boolean isFull(Candidates all, int i, long underWay, long weights) {
            long bound = (5 * underWay * all.weights[i] + 4 * weights - 1) / (4 * weights);
            return all.underWay[i] + 1L > bound;
        }
    },

    /** Selects the first available host in the order of the configuration. */
    FIRST_LIVE {
        @Override
        int choose(Candidates all, long key) {
            for (int i = 0; i < all.size(); i++) {
                if (all.weights[i] > 0) {
                    return i;
                }
            }
            return -1;
        }
    },

    /** Weighted rendezvous hashing by a property of the client, without bounded loads. */
    STICKY {
        @Override
        int choose(Candidates all, long key) {
            int best = -1;
            double highestScore = 0;
            for (int i = 0; i < all.size(); i++) {
                if (all.weights[i] > 0) {
                    double score = score(all, i, key);
                    if (best < 0 || score > highestScore) {
                        best = i;
                        highestScore = score;
                    }
                }
            }
            return best;
        }
    },

    /**
     * Selects the same host as last time. If that host is unavailable, selects the next available host in the order of
     * the configuration.
     */
    LATCHED {
        @Override
        int choose(Candidates all, long key) {
            for (int n = 0; n < all.size(); n++) {
                int i = (Math.max(0, all.last) + n) % all.size();
                if (all.weights[i] > 0) {
                    return i;
                }
            }
            return -1;
        }
    };

    /**
     * Selects a host for one request.
     *
     * @param key hash of the cache key or of the client; ignored by policies without hashing
     * @return index of a host whose weight is not 0; -1 if there is none
     */
    abstract int choose(Candidates all, long key);

    static SelectionPolicy of(Policy policy) {
        return switch (policy) {
            case ROUND_ROBIN -> ROUND_ROBIN;
            case LEAST_LOADED -> LEAST_LOADED;
            case CONSISTENT_HASH -> CONSISTENT_HASH;
            case FIRST_LIVE -> FIRST_LIVE;
            case STICKY -> STICKY;
            case LATCHED -> LATCHED;
        };
    }

    /**
     * Returns the rendezvous score {@code -weight / ln(u)}, where u in (0, 1) is the mixed hash. The probability of the
     * highest score is proportional to the weight.
     */
    private static double score(Candidates all, int i, long key) {
        double u = ((KeyHash.mixed(key, all.hashes[i]) >>> 11) + 0.5) * 0x1.0p-53;
        return -all.weights[i] / Math.log(u);
    }
}
