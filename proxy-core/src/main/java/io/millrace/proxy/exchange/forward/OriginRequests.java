package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.access.AnnouncedClient;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.caching.validate.Validation;
import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.ProxyProtocolVersion;
import io.millrace.proxy.config.value.SourceAddress;
import io.millrace.proxy.edge.EsiRule;
import io.millrace.proxy.edge.MirrorRule;
import io.millrace.proxy.esi.SurrogateControl;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.RangeRequest;
import io.millrace.proxy.exchange.report.ViaLetters;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.extension.FetchHooks;
import io.millrace.proxy.fetch.Origin;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldNames;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.forward.HopByHop;
import io.millrace.proxy.http.forward.TrailerFields;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.RequestReceiver;
import io.millrace.proxy.observe.field.ViaCodes;
import io.millrace.proxy.observe.field.ViaCodes.Part;
import io.millrace.proxy.observe.field.ViaText;
import io.millrace.proxy.observe.trace.ClientSpan;
import io.millrace.proxy.observe.trace.ExchangeTrace;
import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.origin.OriginHost;
import io.millrace.proxy.remap.Mapped;
import io.millrace.store.StoredObject;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.EventExecutor;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Composes requests to origins. They contain the client's end-to-end fields, and Host, Via and fields about the client
 * from this proxy. A fetch for the store requests the whole representation, or a range that the proxy chooses. Such a
 * fetch contains the validators of the stored response instead of the client's Range and conditions (RFC 9111 s4.3.1).
 *
 * <p>Thread-safe: no state.
 */
public final class OriginRequests {
    /**
     * The client's conditions and ranges. A fetch for the store omits them, because they refer to one client's copy.
     */
    private static final FieldNames CLIENT_CONDITIONS = FieldNames.of(
            FieldName.RANGE,
            FieldName.IF_RANGE,
            FieldName.IF_MATCH,
            FieldName.IF_NONE_MATCH,
            FieldName.IF_MODIFIED_SINCE,
            FieldName.IF_UNMODIFIED_SINCE);

    /** Fields that are addressed to this proxy, or that this proxy writes itself. */
    private static final FieldNames REPLACED = FieldNames.of(
            FieldName.HOST, FieldName.CONTENT_LENGTH, FieldName.MAX_FORWARDS, FieldName.PROXY_AUTHORIZATION);

    private OriginRequests() {}

    /** Composes a request to the host of the rule. */
    public static OriginRequest compose(FetchPlan plan, ExchangeSettings settings) {
        OriginRequest.Builder builder = builder(plan, settings, origin(plan.mapped()));
        RemapRuleConfig rule = plan.mapped().rule().config();
        tls(builder, rule.originTls(), plan);
        builder.http2(rule.originHttp2()).source(rule.originSource());
        if (plan.mapped().rule().isForwarding()) {
            builder.addresses(settings.forward());
        }
        return builder.build();
    }

    /** Composes a request to a host of the rule's group. */
    public static OriginRequest compose(FetchPlan plan, ExchangeSettings settings, OriginGroup group, OriginHost host) {
        OriginRequest.Builder builder =
                builder(plan, settings, host.origin()).settings(group.fetchSettings(settings.fetch()));
        if (host.isAddress()) {
            // The certificate contains the name of the service, not the address.
            builder.tlsName(plan.mapped().originHost());
        }
        boolean own = group.config().ownTls();
        RemapRuleConfig rule = plan.mapped().rule().config();
        tls(builder, own ? group.config().tls() : rule.originTls(), plan);
        OriginConfig.Http2 http2 = group.config().http2();
        SourceAddress source = group.config().sourceAddress();
        builder.http2(http2 == null ? rule.originHttp2() : http2).source(source == null ? rule.originSource() : source);
        if (group.config().parentIsProxy()) {
            builder.target(plan.originUrlBytes());
        }
        return builder.build();
    }

    private static void tls(OriginRequest.Builder builder, OriginTlsConfig tls, FetchPlan plan) {
        if (tls.usesHostField()) {
            builder.tlsName(hostOf(plan.mapped().hostField(plan.originUrl())));
        }
        builder.tls(tls);
    }

    /** Returns the host of a Host field. An IPv6 address is returned without its brackets. */
    private static String hostOf(String field) {
        if (field.startsWith("[")) {
            return field.substring(1, Math.max(1, field.indexOf(']')));
        }
        int colon = field.indexOf(':');
        return colon < 0 ? field : field.substring(0, colon);
    }

    /**
     * Lets the hooks of extensions change the request of a plan, before it is sent for the first time.
     *
     * @param then runs on the loop, during this call or later, with the name of the extension whose failure refuses the
     *     request; null if the request can be sent
     */
    public static void prepare(
            FetchPlan plan, ExchangeSettings settings, EventExecutor loop, Consumer<@Nullable String> then) {
        FetchHooks hooks = plan.hooks();
        if (hooks == null || !hooks.mustPrepare()) {
            then.accept(null);
            return;
        }
        hooks.prepare(
                plan.request(),
                () -> new String(plan.originTarget(), StandardCharsets.ISO_8859_1),
                () -> fieldsBeforeHooks(plan, settings),
                loop,
                then);
    }

    /** Returns the fields for the origin before extensions change them, without trace fields. */
    private static FieldSection fieldsBeforeHooks(FetchPlan plan, ExchangeSettings settings) {
        return plan.fieldsAfterRules(fields(plan, settings, null).buildLast());
    }

    private static FieldSection.Builder fields(FetchPlan plan, ExchangeSettings settings, @Nullable ClientSpan span) {
        RequestHead request = plan.request();
        FieldSection.Builder fields = FieldSection.builderLike(request.fields());
        fields.add(FieldName.HOST, plan.mapped().hostField(plan.originUrl()));
        AccessRules access = settings.access();
        plan.forwardingRules(access);
        InetAddress peer = plan.client().remoteAddress().getAddress();
        boolean trusted = access.isTrusted(peer);
        boolean otherUrl = plan.originUrl() != request.target();
        boolean otherHost = otherUrl
                && !Arrays.equals(plan.originUrl().hostBytes(), request.target().hostBytes());
        EsiRule esi = EsiRule.of(settings.edge(), plan.mapped().rule().index());
        copyFields(plan, access, trusted, otherUrl, otherHost, esi, fields);
        addMaxForwards(request, fields);
        EncodingRules encoding = plan.cacheSettings().encoding();
        if (esi != null) {
            fields.add(SurrogateControl.CAPABILITY, SurrogateControl.OWN_CAPABILITY);
        }
        if (isTransforming(plan) || esi != null) {
            fields.add(FieldName.ACCEPT_ENCODING, EncodingRules.IDENTITY);
        } else if (!encoding.isOff()) {
            fields.add(FieldName.ACCEPT_ENCODING, encoding.normalForm(request.fields()));
        }
        if (span != null) {
            fields.add(FieldName.TRACEPARENT, span.parentField());
        }
        StoredObject<StoredHead> stale = plan.stale();
        if (stale != null) {
            Validation.replaceConditions(stale.head(), fields);
        }
        RangeRequest range = plan.range();
        if (range != null) {
            fields.add(FieldName.RANGE, range.range());
            if (range.ifRange() != null) {
                fields.add(FieldName.IF_RANGE, range.ifRange());
            }
        }
        AsciiString via = via(plan, settings.requestVia());
        if (via != null) {
            fields.add(FieldName.VIA, via);
        }
        access.addForwardingFields(request.fields(), trusted, otherHost, plan.client(), plan.originUrl(), fields);
        access.addSubject(plan.client(), fields);
        return fields;
    }

    /** Returns true if extensions may transform the content. The origin must then send it without a content coding. */
    private static boolean isTransforming(FetchPlan plan) {
        return plan.hooks() != null && plan.hooks().transformsBodies();
    }

    private static OriginRequest.Builder builder(FetchPlan plan, ExchangeSettings settings, Origin origin) {
        RequestHead request = plan.request();
        ClientSpan span = plan.trace() == null ? null : plan.beginSpan(origin.isSecure(), origin.authority());
        FieldSection.Builder fields = fields(plan, settings, span);
        OriginRequest.Builder builder = OriginRequest.to(origin)
                .method(request.methodName())
                .target(plan.originTarget())
                .fields(plan.fieldsAfterRules(fields.buildLast()))
                .upgrade(plan.upgrade())
                .client(plan.client().sourceForOrigins())
                .trailersWanted(TrailerFields.areWanted(request.fields()))
                .settings(settings.fetch());
        if (plan.contentLength() == RequestReceiver.CHUNKED) {
            builder.chunkedContent();
        } else if (plan.contentLength() > 0 || request.fields().contains(FieldName.CONTENT_LENGTH)) {
            builder.contentLength(plan.contentLength());
        }
        ProxyProtocolVersion version = plan.mapped().rule().config().proxyProtocolOut();
        if (version != ProxyProtocolVersion.NONE) {
            ClientConnection client = plan.client();
            builder.preface(AnnouncedClient.header(version.number(), client.remoteAddress(), client.localAddress()));
        }
        return builder;
    }

    /**
     * Composes a copy of a request for another origin.
     *
     * @param rule the other origin, and its limits
     * @param contentLength bytes of the content; negative for a request without content
     */
    static OriginRequest copy(FetchPlan plan, ExchangeSettings settings, MirrorRule rule, int contentLength) {
        FieldSection sent = plan.fieldsAfterRules(fields(plan, settings, null).buildLast());
        RemapRuleConfig config = plan.mapped().rule().config();
        FieldSection.Builder fields = FieldSection.builderLike(sent).addAll(sent);
        if (!config.pristineHostHdr()) {
            fields.set(FieldName.HOST, rule.authority());
        }
        OriginRequest.Builder builder = OriginRequest.to(rule.origin())
                .method(plan.request().methodName())
                .target(plan.originTarget())
                .fields(fields.build())
                .tls(rule.tls())
                .source(config.originSource())
                .settings(rule.settings(settings.fetch()));
        if (rule.tls().usesHostField() && config.pristineHostHdr()) {
            builder.tlsName(hostOf(plan.mapped().hostField(plan.originUrl())));
        }
        if (contentLength >= 0) {
            builder.contentLength(contentLength);
        } else if (plan.request().fields().contains(FieldName.CONTENT_LENGTH)) {
            builder.contentLength(0);
        }
        return builder.build();
    }

    private static @Nullable AsciiString via(FetchPlan plan, ViaText text) {
        RequestHead request = plan.request();
        if (!text.hasCodes()) {
            return text.plain(request.version());
        }
        ViaCodes codes =
                new ViaCodes().set(Part.CLIENT, ViaLetters.client(request)).set(Part.ERROR, 'N');
        if (plan.mayStore()) {
            boolean stale = plan.stale() != null;
            codes.set(Part.LOOKUP, stale ? 'S' : 'M').set(Part.TYPE, 'C').set(Part.RESULT, stale ? 'S' : 'M');
        }
        InetAddress peer = plan.client().remoteAddress().getAddress();
        return codes.text(text, request.version(), plan.client().secure(), peer instanceof Inet6Address);
    }

    /** Returns the origin of a rule that names a single host instead of a group. */
    public static Origin origin(Mapped mapped) {
        Origin origin = mapped.originScheme().equals("https")
                ? Origin.https(mapped.originHost(), mapped.originPort())
                : Origin.http(mapped.originHost(), mapped.originPort());
        Path socket = mapped.rule().unixSocket();
        if (socket != null) {
            return origin.onSocket(socket.toString());
        }
        // DNS SRV records may determine host and port, unless the rule names a port or the client named the host.
        return mapped.rule().namesPort() || mapped.rule().isForwarding() ? origin : origin.withSrv();
    }

    /** Copies the client's fields, except those that the origin must not get or that this proxy writes itself. */
    private static void copyFields(
            FetchPlan plan,
            AccessRules access,
            boolean trusted,
            boolean otherUrl,
            boolean otherHost,
            @Nullable EsiRule esi,
            FieldSection.Builder to) {
        FieldSection from = plan.request().fields();
        HopByHop hopByHop = HopByHop.of(from);
        EncodingRules encoding = plan.cacheSettings().encoding();
        boolean setsAcceptEncoding = !encoding.isOff() || isTransforming(plan) || esi != null;
        boolean asksForWhole = plan.asksForWhole();
        for (int line = 0; line < from.size(); line++) {
            if (isWithheld(access, hopByHop, trusted, otherUrl, otherHost, from, line)
                    || isReplacedTraceField(plan, from, line)
                    || REPLACED.contains(from, line)
                    || (setsAcceptEncoding && from.isNamed(line, FieldName.ACCEPT_ENCODING))
                    || (esi != null && from.isNamed(line, SurrogateControl.CAPABILITY))
                    || (asksForWhole && (from.isNamed(line, FieldName.RANGE) || from.isNamed(line, FieldName.IF_RANGE)))
                    || (!plan.isPass() && CLIENT_CONDITIONS.contains(from, line))) {
                continue;
            }
            to.addLine(from, line);
        }
    }

    /**
     * Returns true if this proxy writes the field itself, or if the field belongs to a trace that is not continued. If
     * requests are not traced, trace fields are forwarded unchanged.
     */
    private static boolean isReplacedTraceField(FetchPlan plan, FieldSection from, int line) {
        ExchangeTrace trace = plan.trace();
        return trace != null
                && (from.isNamed(line, FieldName.TRACEPARENT)
                        || (!trace.isContinued() && from.isNamed(line, FieldName.TRACESTATE)));
    }

    /**
     * Returns true if the origin does not get the field. This applies to hop-by-hop fields, to fields that the access
     * rules withhold, and to fields with the client's URL or host if another URL is requested.
     */
    private static boolean isWithheld(
            AccessRules access,
            HopByHop hopByHop,
            boolean trusted,
            boolean otherUrl,
            boolean otherHost,
            FieldSection from,
            int line) {
        return hopByHop.contains(from, line)
                || access.isWithheld(from, line, trusted)
                || (otherUrl && AccessRules.containsOtherUrl(from, line, otherHost));
    }

    /** Returns true if the client sent a selecting request field (Vary) that the request to the origin omitted. */
    public static boolean isAnySelectorWithheld(FetchPlan plan, Variance variance) {
        FieldSection from = plan.request().fields();
        AccessRules access = plan.forwardingRules();
        HopByHop hopByHop = HopByHop.of(from);
        boolean trusted = access.isTrusted(plan.client().remoteAddress().getAddress());
        boolean otherUrl = plan.originUrl() != plan.request().target();
        boolean otherHost = otherUrl
                && !Arrays.equals(
                        plan.originUrl().hostBytes(), plan.request().target().hostBytes());
        for (FieldName name : variance.names()) {
            if (access.isSubject(name)) {
                return true;
            }
            for (int line = from.find(name); line >= 0; line = from.next(name, line)) {
                if (isWithheld(access, hopByHop, trusted, otherUrl, otherHost, from, line)
                        || isReplacedTraceField(plan, from, line)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Adds Max-Forwards: decremented for OPTIONS and TRACE, unchanged for all other methods (RFC 9110 s7.6.2). */
    private static void addMaxForwards(RequestHead request, FieldSection.Builder to) {
        FieldSection from = request.fields();
        boolean isDecremented = request.method() == Method.OPTIONS || request.method() == Method.TRACE;
        for (int line = from.find(FieldName.MAX_FORWARDS); line >= 0; line = from.next(FieldName.MAX_FORWARDS, line)) {
            long left = FieldLexer.number(from.bytes(), from.valueStart(line), from.valueEnd(line));
            if (isDecremented && left > 0) {
                to.add(FieldName.MAX_FORWARDS, Long.toString(left - 1));
            } else {
                to.addLine(from, line);
            }
        }
    }
}
