package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig.Policy;

/** Who of the candidates gets a request. Pure but for what {@link Candidates} remember: no I/O, no clock, no chance. */
enum SelectionPolicy {
    /** Smooth weighted round robin: who is owed most is next, and pays what all earn in one turn. */
    ROUND_ROBIN {
        @Override
        int choose(Candidates all, long key) {
            long turn = 0;
            int best = -1;
            for (int i = 0; i < all.size(); i++) {
                if (all.weights[i] > 0) {
                    turn += all.weights[i];
                    all.credit[i] += all.weights[i];
                    best = best < 0 || all.credit[i] > all.credit[best] ? i : best;
                } else {
                    // Who was away is owed nothing for that time.
                    all.credit[i] = 0;
                }
            }
            if (best >= 0) {
                all.credit[best] -= turn;
            }
            return best;
        }
    },

    /** The fewest requests under way for its weight, this one counted in; in turn among equals. */
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
     * Weighted rendezvous hashing: the host whose hash together with the key's gives the highest score. A host that goes or
     * comes moves only its own keys. Who has more than 1.25 times its share of the requests under way is passed over for the
     * next best (bounded load).
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
            double most = 0;
            for (int i = 0; i < all.size(); i++) {
                if (all.weights[i] > 0 && !isFull(all, i, underWay, weights)) {
                    double score = score(all, i, key);
                    if (best < 0 || score > most) {
                        best = i;
                        most = score;
                    }
                }
            }
            return best;
        }

        /** Whether one more would be more than {@code ceil(1.25 * share)}; of all together some are always below. */
        private boolean isFull(Candidates all, int i, long underWay, long weights) {
            long bound = (5 * underWay * all.weights[i] + 4 * weights - 1) / (4 * weights);
            return all.underWay[i] + 1L > bound;
        }
    },

    /** The first. */
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

    /** By the key alone, which is the client's. */
    STICKY {
        @Override
        int choose(Candidates all, long key) {
            int best = -1;
            double most = 0;
            for (int i = 0; i < all.size(); i++) {
                if (all.weights[i] > 0) {
                    double score = score(all, i, key);
                    if (best < 0 || score > most) {
                        best = i;
                        most = score;
                    }
                }
            }
            return best;
        }
    },

    /** The one chosen last; where that is away, the next in the order of the file. */
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
     * Chooses.
     *
     * @param key a hash, of meaning for some
     * @return the index of a host whose weight is not 0; -1 when there is none
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

    /** {@code -weight / ln(u)}, u being the hash as a number between 0 and 1: the highest is each one's by its weight. */
    private static double score(Candidates all, int i, long key) {
        double u = ((KeyHash.mixed(key, all.hashes[i]) >>> 11) + 0.5) * 0x1.0p-53;
        return -all.weights[i] / Math.log(u);
    }
}
