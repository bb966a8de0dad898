package io.millrace.proxy.caching;

import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.caching.settings.RequestRules;
import io.millrace.proxy.caching.settings.StatusSet;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.caching.tags.TagRules;
import io.millrace.proxy.http.FieldName;
import java.util.List;

/**
 * The caching settings of the operator, global or for one remap rule. The defaults follow RFC 9111. Immutable.
 *
 * @param enabled whether responses are stored and reused at all
 * @param storing which responses may be stored
 * @param lifetimes freshness lifetimes
 * @param stale when responses may be served stale
 * @param requests which directives of clients are honoured
 * @param key which requests share a stored response
 * @param tags response fields that contain tags
 * @param encoding which responses this proxy compresses; these responses have variants by Accept-Encoding
 */
public record CacheSettings(
        boolean enabled,
        StoringRules storing,
        LifetimeRules lifetimes,
        StaleRules stale,
        RequestRules requests,
        KeyRules key,
        TagRules tags,
        EncodingRules encoding) {

    /** The settings without any configuration. */
    public static final CacheSettings DEFAULTS = builder().build();

    /** Returns a builder that starts with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns a builder that starts with these settings, for the overrides of one rule. */
    public Builder toBuilder() {
        return new Builder()
                .enabled(enabled)
                .targets(storing.targets())
                .requiredHeaders(storing.requiredHeaders())
                .maxObjectBytes(storing.maxObjectBytes())
                .storageShareMax(storing.storageShareMax())
                .ignoreServerNoCache(storing.ignoreServerNoCache())
                .ignoreAuthentication(storing.ignoreAuthentication())
                .cookies(storing.cookies())
                .dynamicUrls(storing.dynamicUrls())
                .variantsMax(storing.variantsMax())
                .post(storing.post())
                .unsharedFields(storing.unsharedFields())
                .pinSeconds(storing.pinSeconds())
                .leakGuard(storing.leakGuard())
                .heuristicFactor(lifetimes.heuristicFactor())
                .heuristicMinSeconds(lifetimes.heuristicMinSeconds())
                .heuristicMaxSeconds(lifetimes.heuristicMaxSeconds())
                .heuristicWithoutLastModified(lifetimes.heuristicWithoutLastModified())
                .heuristicWithCookies(lifetimes.heuristicWithCookies())
                .guaranteedMinSeconds(lifetimes.guaranteedMinSeconds())
                .guaranteedMaxSeconds(lifetimes.guaranteedMaxSeconds())
                .whenToRevalidate(lifetimes.whenToRevalidate())
                .negative(lifetimes.negative())
                .forced(lifetimes.forced())
                .maxStaleSeconds(stale.maxStaleSeconds())
                .whileRevalidateSeconds(stale.whileRevalidateSeconds())
                .forcedWhileRevalidateSeconds(stale.forcedWhileRevalidateSeconds())
                .ifErrorSeconds(stale.ifErrorSeconds())
                .forcedIfErrorSeconds(stale.forcedIfErrorSeconds())
                .despiteSharedMaxAge(stale.despiteSharedMaxAge())
                .onError(stale.onError())
                .underLoad(stale.underLoad())
                .ignoreClientNoCache(requests.ignoreNoCache())
                .ignoreClientMaxAge(requests.ignoreMaxAge())
                .imsOnClientNoCache(requests.imsOnNoCache())
                .authorizedReuse(requests.authorized())
                .key(key)
                .tags(tags)
                .encoding(encoding);
    }

    /** Builds settings, starting with the defaults. Each setter has the name of its setting. Confined to one thread. */
    public static final class Builder {

        /**
         * The default: negative caching is off. The status codes are those of Traffic Server; they apply once it is
         * enabled. RFC 9111 s4.2.2 permits heuristic lifetimes for only some of them.
         */
        private static final LifetimeRules.NegativeCaching NO_NEGATIVE_CACHING = new LifetimeRules.NegativeCaching(
                false, 1_800, StatusSet.of(204, 305, 403, 404, 414, 500, 501, 502, 503, 504));

        /** The error statuses of RFC 5861 s4. */
        private static final StaleRules.NegativeRevalidating SERVER_ERRORS =
                new StaleRules.NegativeRevalidating(true, 0, StatusSet.of(500, 502, 503, 504));

        private boolean enabled = true;
        private List<FieldName> targets = List.of(FieldName.CDN_CACHE_CONTROL);
        private StoringRules.RequiredHeaders requiredHeaders = StoringRules.RequiredHeaders.NONE;
        private long maxObjectBytes;
        private double storageShareMax = 0.25;
        private boolean ignoreServerNoCache;
        private boolean ignoreAuthentication = true;
        private StoringRules.CookiePolicy cookies = StoringRules.CookiePolicy.ALL;
        private boolean dynamicUrls = true;
        private int variantsMax = 16;
        private boolean post = true;
        private List<FieldName> unsharedFields = List.of();
        private long pinSeconds;
        private StoringRules.LeakGuardLevel leakGuard = StoringRules.LeakGuardLevel.ON;
        private double heuristicFactor = 0.1;
        private long heuristicMinSeconds = 3_600;
        private long heuristicMaxSeconds = 86_400;
        private boolean heuristicWithoutLastModified;
        private LifetimeRules.HeuristicWithCookies heuristicWithCookies = LifetimeRules.HeuristicWithCookies.NOT_TEXT;
        private long guaranteedMinSeconds;
        private long guaranteedMaxSeconds;
        private LifetimeRules.WhenToRevalidate whenToRevalidate = LifetimeRules.WhenToRevalidate.DIRECTIVES;
        private LifetimeRules.NegativeCaching negative = NO_NEGATIVE_CACHING;
        private LifetimeRules.Forced forced = LifetimeRules.Forced.NONE;
        private long maxStaleSeconds = 604_800;
        private long whileRevalidateSeconds;
        private long forcedWhileRevalidateSeconds;
        private long ifErrorSeconds;
        private long forcedIfErrorSeconds;
        private boolean despiteSharedMaxAge;
        private StaleRules.NegativeRevalidating onError = SERVER_ERRORS;
        private StaleRules.UnderLoad underLoad = StaleRules.UnderLoad.NONE;
        private boolean ignoreClientNoCache;
        private boolean ignoreClientMaxAge;
        private boolean imsOnClientNoCache = true;
        private RequestRules.AuthorizedReuse authorizedReuse = RequestRules.AuthorizedReuse.ALWAYS;
        private KeyRules key = KeyRules.UNCHANGED;
        private TagRules tags = TagRules.DEFAULTS;
        private EncodingRules encoding = EncodingRules.NONE;

        private Builder() {}

        public Builder enabled(boolean value) {
            enabled = value;
            return this;
        }

        public Builder targets(List<FieldName> value) {
            targets = value;
            return this;
        }

        public Builder requiredHeaders(StoringRules.RequiredHeaders value) {
            requiredHeaders = value;
            return this;
        }

        public Builder maxObjectBytes(long value) {
            maxObjectBytes = value;
            return this;
        }

        public Builder storageShareMax(double value) {
            storageShareMax = value;
            return this;
        }

        public Builder ignoreServerNoCache(boolean value) {
            ignoreServerNoCache = value;
            return this;
        }

        public Builder ignoreAuthentication(boolean value) {
            ignoreAuthentication = value;
            return this;
        }

        public Builder cookies(StoringRules.CookiePolicy value) {
            cookies = value;
            return this;
        }

        public Builder dynamicUrls(boolean value) {
            dynamicUrls = value;
            return this;
        }

        public Builder variantsMax(int value) {
            variantsMax = value;
            return this;
        }

        public Builder post(boolean value) {
            post = value;
            return this;
        }

        public Builder unsharedFields(List<FieldName> value) {
            unsharedFields = value;
            return this;
        }

        public Builder pinSeconds(long value) {
            pinSeconds = value;
            return this;
        }

        public Builder leakGuard(StoringRules.LeakGuardLevel value) {
            leakGuard = value;
            return this;
        }

        public Builder heuristicFactor(double value) {
            heuristicFactor = value;
            return this;
        }

        public Builder heuristicMinSeconds(long value) {
            heuristicMinSeconds = value;
            return this;
        }

        public Builder heuristicMaxSeconds(long value) {
            heuristicMaxSeconds = value;
            return this;
        }

        public Builder heuristicWithoutLastModified(boolean value) {
            heuristicWithoutLastModified = value;
            return this;
        }

        public Builder heuristicWithCookies(LifetimeRules.HeuristicWithCookies value) {
            heuristicWithCookies = value;
            return this;
        }

        public Builder guaranteedMinSeconds(long value) {
            guaranteedMinSeconds = value;
            return this;
        }

        public Builder guaranteedMaxSeconds(long value) {
            guaranteedMaxSeconds = value;
            return this;
        }

        public Builder whenToRevalidate(LifetimeRules.WhenToRevalidate value) {
            whenToRevalidate = value;
            return this;
        }

        public Builder negative(LifetimeRules.NegativeCaching value) {
            negative = value;
            return this;
        }

        public Builder forced(LifetimeRules.Forced value) {
            forced = value;
            return this;
        }

        public Builder maxStaleSeconds(long value) {
            maxStaleSeconds = value;
            return this;
        }

        public Builder whileRevalidateSeconds(long value) {
            whileRevalidateSeconds = value;
            return this;
        }

        public Builder forcedWhileRevalidateSeconds(long value) {
            forcedWhileRevalidateSeconds = value;
            return this;
        }

        public Builder ifErrorSeconds(long value) {
            ifErrorSeconds = value;
            return this;
        }

        public Builder forcedIfErrorSeconds(long value) {
            forcedIfErrorSeconds = value;
            return this;
        }

        public Builder despiteSharedMaxAge(boolean value) {
            despiteSharedMaxAge = value;
            return this;
        }

        public Builder onError(StaleRules.NegativeRevalidating value) {
            onError = value;
            return this;
        }

        public Builder underLoad(StaleRules.UnderLoad value) {
            underLoad = value;
            return this;
        }

        public Builder ignoreClientNoCache(boolean value) {
            ignoreClientNoCache = value;
            return this;
        }

        public Builder ignoreClientMaxAge(boolean value) {
            ignoreClientMaxAge = value;
            return this;
        }

        public Builder imsOnClientNoCache(boolean value) {
            imsOnClientNoCache = value;
            return this;
        }

        public Builder authorizedReuse(RequestRules.AuthorizedReuse value) {
            authorizedReuse = value;
            return this;
        }

        public Builder key(KeyRules value) {
            key = value;
            return this;
        }

        public Builder tags(TagRules value) {
            tags = value;
            return this;
        }

        public Builder encoding(EncodingRules value) {
            encoding = value;
            return this;
        }

        /**
         * Returns the settings.
         *
         * @throws IllegalArgumentException when a value is out of its bounds
         */
        public CacheSettings build() {
            return new CacheSettings(
                    enabled,
                    new StoringRules(
                            targets,
                            requiredHeaders,
                            maxObjectBytes,
                            storageShareMax,
                            ignoreServerNoCache,
                            ignoreAuthentication,
                            cookies,
                            dynamicUrls,
                            variantsMax,
                            post,
                            unsharedFields,
                            pinSeconds,
                            leakGuard),
                    new LifetimeRules(
                            heuristicFactor,
                            heuristicMinSeconds,
                            heuristicMaxSeconds,
                            heuristicWithoutLastModified,
                            heuristicWithCookies,
                            guaranteedMinSeconds,
                            guaranteedMaxSeconds,
                            whenToRevalidate,
                            negative,
                            forced),
                    new StaleRules(
                            maxStaleSeconds,
                            whileRevalidateSeconds,
                            forcedWhileRevalidateSeconds,
                            ifErrorSeconds,
                            forcedIfErrorSeconds,
                            despiteSharedMaxAge,
                            onError,
                            underLoad),
                    new RequestRules(ignoreClientNoCache, ignoreClientMaxAge, imsOnClientNoCache, authorizedReuse),
                    key,
                    tags,
                    encoding);
        }
    }
}
