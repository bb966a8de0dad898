package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.acme.ChallengeAnswers;
import io.millrace.proxy.clients.ClientLimits;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.Timeouts;
import io.millrace.proxy.config.key.ViaConfig;
import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.fetch.FetchSettings;
import io.millrace.proxy.observe.CacheStatus;
import io.millrace.proxy.observe.Via;
import io.millrace.proxy.observe.ViaText;
import io.millrace.proxy.remap.CacheRules;
import io.millrace.proxy.remap.RemapTable;
import io.millrace.proxy.remap.ReverseMap;
import io.millrace.proxy.remap.VolumeChoice;
import io.millrace.proxy.tunnel.TunnelLimits;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * What a configuration means for exchanges, swapped as a whole on reload: an exchange that began keeps what it has read.
 *
 * <p>Immutable.
 *
 * @param remap the rules
 * @param reverse what becomes of origins' URLs in answers; null for nothing
 * @param noHostUrlRedirect where requests without a host are redirected that no rule maps; null for nowhere
 * @param cacheRules what holds for single requests over the settings of their rule
 * @param access which methods each rule lets through, and whose word about the client is believed
 * @param forward who may be forwarded to where without a rule
 * @param volumes which volume a response goes to
 * @param fetch deadlines and limits towards origins
 * @param tunnels how long connections live that have left HTTP
 * @param fillWindowBytes bytes of an origin's body kept in RAM for its readers
 * @param storesBlocks whether bodies are kept in blocks, so that any part of one may be: not without a disk
 * @param via this proxy's member of Via, to be found in requests
 * @param requestVia what it says in requests to origins
 * @param responseVia what it says in responses
 * @param server what responses say in Server
 * @param clients how much one client may take at the same time
 * @param cacheStatus this proxy's member of Cache-Status
 * @param challenges answers to ACME challenges by requests; null where no issuer sends any
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
        TunnelLimits tunnels,
        int fillWindowBytes,
        boolean storesBlocks,
        Via via,
        ViaText requestVia,
        ViaText responseVia,
        ServerFields server,
        ClientLimits clients,
        CacheStatus cacheStatus,
        @Nullable ChallengeAnswers challenges) {

    /**
     * What a configuration means.
     *
     * @param built what the store was opened by, and is whatever the configuration says since
     * @param forward what it means for requests that are forwarded
     */
    public static ExchangeSettings of(ProxyConfig config, ProxyConfig built, ForwardSettings forward) {
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
                VolumeChoice.of(built),
                fetch,
                new TunnelLimits(timeouts.tunnelIdleNanos(), timeouts.tunnelMaxNanos()),
                (int) Math.min(Integer.MAX_VALUE, config.cache().fillWindowBytes()),
                !built.storage().isEmpty(),
                new Via(via.name()),
                new ViaText(via.name(), level(via.request())),
                new ViaText(via.name(), level(via.response())),
                new ServerFields(via.server(), via.name()),
                ClientLimits.of(config),
                new CacheStatus(via.name()),
                ChallengeAnswers.of(config.acme()));
    }

    @SuppressWarnings("EnumOrdinal") // the levels are numbers, and their words in that order
    private static int level(ViaConfig.Level level) {
        return level.ordinal();
    }
}
