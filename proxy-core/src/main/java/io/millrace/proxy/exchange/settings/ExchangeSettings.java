package io.millrace.proxy.exchange.settings;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.access.CountryField;
import io.millrace.proxy.access.Guards;
import io.millrace.proxy.acme.ChallengeAnswers;
import io.millrace.proxy.clients.ClientLimits;
import io.millrace.proxy.clients.RequestLimits;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.Timeouts;
import io.millrace.proxy.config.key.ViaConfig;
import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.value.SourceAddress;
import io.millrace.proxy.edge.EdgeRules;
import io.millrace.proxy.extension.Hook;
import io.millrace.proxy.extension.HookChain;
import io.millrace.proxy.extension.HookChains;
import io.millrace.proxy.fetch.FetchSettings;
import io.millrace.proxy.geo.GeoFiles;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.field.CacheStatus;
import io.millrace.proxy.observe.field.Via;
import io.millrace.proxy.observe.field.ViaText;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.remap.CacheRules;
import io.millrace.proxy.remap.RemapTable;
import io.millrace.proxy.remap.ReverseMap;
import io.millrace.proxy.remap.VolumeChoice;
import io.millrace.proxy.rules.RulePrograms;
import io.millrace.proxy.serve.ErrorPages;
import io.millrace.proxy.tunnel.TunnelLimits;
import java.time.ZoneId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings of exchanges, created from a configuration and replaced as a whole on reload. A running exchange keeps
 * the values that it has read.
 *
 * <p>Immutable.
 *
 * @param remap the remap rules
 * @param reverse replaces origin URLs in responses by client URLs; null to replace none
 * @param noHostUrlRedirect redirect target for unmapped requests without a host; null for none
 * @param cacheRules rules that override the cache settings of the remap rule for matching requests
 * @param access allowed methods of each rule, and the peers that are trusted to report the client's address and scheme
 * @param forward clients and destinations of the forward proxy
 * @param volumes selects the volume of a response
 * @param fetch deadlines and limits of requests to origins
 * @param markdown the failures after which an origin is marked down, if it is a single host and not in a group
 * @param source local addresses of connections for CONNECT and to authorisation servers, which have no remap rule
 * @param tunnels idle and total time limits of tunnels
 * @param fillWindowBytes bytes of an origin's body kept in RAM for its readers
 * @param storesBlocks whether bodies are stored in blocks, so that any part can be stored; false without a disk
 * @param via the member that this proxy adds to Via, by which requests in a loop are detected
 * @param requestVia the Via member of requests to origins
 * @param responseVia the Via member of responses
 * @param server the Server field of responses
 * @param clients limits per client
 * @param errorPages pages for errors of this proxy; null if there are none
 * @param guards the signatures, passwords, tokens and permissions that some rules require; null for none
 * @param edge CORS, canary splits and mirrored requests of some rules; null for none
 * @param requestLimits limits of the number of requests in a period; null if there are none
 * @param rules rules that change requests and responses; null if there are none
 * @param extensions hooks of extensions for each rule; null if there are no extensions
 * @param geo the databases of IP address locations; null if the configuration names none
 * @param country the request field with the country of the client; null if none is set
 * @param cacheStatus this proxy's member of Cache-Status
 * @param challenges answers to ACME challenges over HTTP; null when ACME is not configured
 */
public record ExchangeSettings(
        RemapTable remap,
        @Nullable ReverseMap reverse,
        @Nullable String noHostUrlRedirect,
        CacheRules cacheRules,
        AccessRules access,
        ForwardSettings forward,
        VolumeChoice volumes,
        FetchSettings fetch,
        OriginGroupConfig.Markdown markdown,
        SourceAddress source,
        TunnelLimits tunnels,
        int fillWindowBytes,
        boolean storesBlocks,
        Via via,
        ViaText requestVia,
        ViaText responseVia,
        ServerFields server,
        ClientLimits clients,
        @Nullable ErrorPages errorPages,
        @Nullable Guards guards,
        @Nullable EdgeRules edge,
        @Nullable RequestLimits requestLimits,
        @Nullable RulePrograms rules,
        @Nullable HookChains extensions,
        @Nullable GeoFiles geo,
        @Nullable CountryField country,
        CacheStatus cacheStatus,
        @Nullable ChallengeAnswers challenges) {

    /**
     * Creates the settings from a configuration.
     *
     * @param startConfig the configuration with which the store was opened; a reload does not replace it
     * @param forward the settings of the forward proxy
     * @param extensions hooks of extensions for each rule; null if there are no extensions
     * @param geo the databases of IP address locations; null if the configuration names none
     */
    public static ExchangeSettings of(
            ProxyConfig config,
            ProxyConfig startConfig,
            ForwardSettings forward,
            @Nullable HookChains extensions,
            @Nullable GeoFiles geo) {
        Timeouts timeouts = config.timeouts();
        OriginConfig origin = config.origin();
        ViaConfig via = config.via();
        FetchSettings fetch = FetchSettings.builder()
                .connectTimeoutNanos(timeouts.originConnectNanos())
                .firstByteTimeoutNanos(timeouts.originFirstByteNanos())
                .responseIdleTimeoutNanos(timeouts.originIdleNanos())
                .requestIdleTimeoutNanos(timeouts.originIdleNanos())
                .keepAlive(origin.keepAliveNanos() > 0)
                .keepAliveIdleNanos(Math.max(1, origin.keepAliveNanos()))
                .queueMax(origin.queueMax())
                .queueTimeoutNanos(origin.queueWaitNanos())
                .responseHeadMax(config.limits().responseHeaderBytes())
                .connectionsMax(origin.connectionsMax())
                .connectionsTotalMax(origin.connectionsTotalMax())
                .tunnelsMax(origin.tunnelsMax())
                .idleConnectionsMax(origin.keepAliveMax())
                .http2StreamsMax(origin.http2StreamsMax())
                .http2WindowBytes(origin.http2WindowBytes())
                .build();
        return new ExchangeSettings(
                RemapTable.of(config),
                ReverseMap.of(config),
                config.noHostUrlRedirect(),
                CacheRules.of(config, ZoneId.systemDefault()),
                AccessRules.of(config),
                forward,
                VolumeChoice.of(startConfig),
                fetch,
                origin.markdown(),
                origin.source(),
                new TunnelLimits(timeouts.tunnelIdleNanos(), timeouts.tunnelMaxNanos()),
                (int) Math.min(Integer.MAX_VALUE, config.cache().fillWindowBytes()),
                !startConfig.storage().isEmpty(),
                new Via(via.name()),
                new ViaText(via.name(), level(via.request())),
                new ViaText(via.name(), level(via.response())),
                new ServerFields(via.server(), via.name()),
                ClientLimits.of(config),
                ErrorPages.of(config),
                Guards.of(config),
                EdgeRules.of(config),
                RequestLimits.of(config),
                RulePrograms.of(config),
                extensions,
                geo,
                CountryField.of(config),
                new CacheStatus(via.name()),
                ChallengeAnswers.of(config.acme()));
    }

    /**
     * Returns the invalidation scopes of a URL whose responses have several cache keys, because of extensions or canary
     * splits. Empty for other URLs.
     */
    public List<InvalidationScope> dividedScopes(TargetUri url) {
        HookChains hooks = extensions != null && extensions.changesKeys() ? extensions : null;
        EdgeRules splits = edge != null && edge.hasSeparateBranches() ? edge : null;
        if (hooks == null && splits == null) {
            return List.of();
        }
        boolean divided = remap.matches(url).stream().anyMatch(mapped -> {
            HookChain chain = hooks == null ? null : hooks.of(mapped.rule());
            return (chain != null && chain.has(Hook.CACHE_KEY))
                    || (splits != null && splits.split(mapped.rule().index()) != null);
        });
        return divided ? InvalidationScopes.urls(List.of(url), remap) : List.of();
    }

    @SuppressWarnings("EnumOrdinal") // the ordinals are the numeric levels
    private static int level(ViaConfig.Level level) {
        return level.ordinal();
    }
}
