package io.millrace.proxy.access;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.AccessConfig;
import io.millrace.proxy.config.access.AccessConfig.ForwardedField;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.AddressRange;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientConnection;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who may ask for what of each rule, who may purge, whose word about the client is believed, and what the origin is told of the client. Immutable.
 */
public final class AccessRules {
    private static final FieldName[] NAMES = {
        FieldName.X_FORWARDED_FOR,
        FieldName.X_FORWARDED_PROTO,
        FieldName.X_FORWARDED_HOST,
        FieldName.FORWARDED,
        FieldName.CLIENT_IP
    };

    /** Stands for the index of a rule where none maps the URL. */
    public static final int NO_RULE = -1;

    private final RequestFilters filters;
    private final MethodPolicy[] methods;
    private final PurgeAccess purges;
    private final AddressRange[] trusted;
    private final ForwardedField[] told;
    private final ForwardedClient named;
    private final @Nullable SubjectField subject;

    private AccessRules(
            RequestFilters filters,
            MethodPolicy[] methods,
            PurgeAccess purges,
            AddressRange[] trusted,
            ForwardedField[] told,
            ForwardedClient named,
            @Nullable SubjectField subject) {
        this.filters = filters;
        this.methods = methods;
        this.purges = purges;
        this.trusted = trusted;
        this.told = told;
        this.named = named;
        this.subject = subject;
    }

    /** What a configuration means. */
    public static AccessRules of(ProxyConfig config) {
        AccessConfig access = config.access();
        List<RemapRuleConfig> rules = config.remap();
        MethodPolicy[] methods = new MethodPolicy[rules.size() + 1];
        for (int i = 0; i < rules.size(); i++) {
            methods[i] = MethodPolicy.of(rules.get(i).methods());
        }
        methods[rules.size()] = MethodPolicy.of(config.forwardRule().methods());
        return new AccessRules(
                RequestFilters.of(config),
                methods,
                PurgeAccess.of(config),
                access.trustedProxies().toArray(new AddressRange[0]),
                access.forwardedFields().toArray(new ForwardedField[0]),
                new ForwardedClient(access.trusted()),
                SubjectField.of(config.tls().clientSubjectField()));
    }

    /** Whether there are filters at all; without, {@link #denial} need not be asked. */
    public boolean hasFilters() {
        return filters.isAny();
    }

    /**
     * The filter that refuses a request, as logs and metrics name it; null when it may go on. Allocates nothing, unless the client's
     * address is told by X-Forwarded-For.
     *
     * @param ruleIndex the rule that the URL has, or {@link #NO_RULE}
     * @param peer who sent it, null when not known
     * @param local the address that it was sent to, null when not known
     */
    public @Nullable String denial(
            int ruleIndex, RequestHead request, @Nullable IpAddress peer, @Nullable IpAddress local) {
        return filters.denial(ruleIndex, request, peer, local);
    }

    /**
     * Who the client of a request is to those who go by its address: where X-Forwarded-For counts, the one that a trusted proxy names there.
     *
     * @param peer who sent it, null when not known
     * @return null when not known
     */
    public @Nullable IpAddress client(RequestHead request, @Nullable IpAddress peer) {
        return filters.client(request, peer);
    }

    /**
     * The client that a trusted proxy names in X-Forwarded-For, or the peer.
     *
     * @param peer who sent the request, null when not known
     * @return null when not known
     */
    public @Nullable IpAddress namedClient(RequestHead request, @Nullable IpAddress peer) {
        return named.of(request.fields(), peer);
    }

    /** The methods of a rule. */
    public MethodPolicy methods(int ruleIndex) {
        return methods[ruleIndex];
    }

    /** Who may purge. */
    public PurgeAccess purges() {
        return purges;
    }

    /** Whether the address is that of a proxy whose word about the client is believed. */
    public boolean isTrusted(@Nullable InetAddress address) {
        if (address != null) {
            for (AddressRange range : trusted) {
                if (range.contains(address)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Whether the client of a request is secured by TLS as https demands (RFC 9110 s7.4): up to here, or up to a trusted proxy that says so.
     *
     * @param client the connection that the request came on
     */
    public boolean isSecured(FieldSection fields, ClientConnection client) {
        return client.isSecureForClient()
                || (isTrusted(client.remoteAddress().getAddress()) && ForwardedScheme.isHttps(fields));
    }

    /**
     * Whether the line speaks of the client in another's name: an untrusted client's is not sent on, and the ones that this
     * proxy writes itself are never copied.
     */
    public boolean isWithheld(FieldSection fields, int line, boolean fromTrusted) {
        if (subject != null && subject.isNameOf(fields, line)) {
            return true;
        }
        if (!fromTrusted) {
            return ForwardingFields.contains(fields, line);
        }
        for (ForwardedField field : told) {
            if (fields.isNamed(line, nameOf(field))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the line tells of a URL that the origin is not asked for, because keys of the rule hold another one: then not even a
     * trusted proxy's word reaches it, or one client's URL would decide what all others get.
     *
     * @param otherHost whether the origin is told of another host than the client's
     */
    public static boolean tellsOfAnotherUrl(FieldSection fields, int line, boolean otherHost) {
        return ForwardingFields.tellsUrl(fields, line) || (otherHost && ForwardingFields.tellsHost(fields, line));
    }

    /** Adds the subject of the client's certificate, where origins are told of it. */
    public void tellSubject(ClientConnection client, FieldSection.Builder to) {
        if (subject != null) {
            subject.addTo(client, to);
        }
    }

    /** Whether a response that varies by this field answers one client's certificate. */
    public boolean isSubject(FieldName name) {
        return subject != null && subject.isLike(name);
    }

    /**
     * Adds what the origin is told of the client. The word of a trusted proxy stays: addresses are appended to its list, scheme and
     * host are its own where it gave them.
     *
     * @param otherHost whether the target has another host than the client asked for: then that is the host that is told
     * @param peer who sent the request, null when not known
     */
    public void tell(
            FieldSection from,
            boolean fromTrusted,
            boolean otherHost,
            @Nullable InetAddress peer,
            TargetUri target,
            FieldSection.Builder to) {
        for (ForwardedField field : told) {
            FieldName name = nameOf(field);
            boolean namesHost = field == ForwardedField.X_FORWARDED_HOST || field == ForwardedField.FORWARDED;
            String before = fromTrusted && !(otherHost && namesHost) ? from.joined(name) : null;
            switch (field) {
                case X_FORWARDED_FOR -> appended(name, before, peer == null ? "unknown" : text(peer), to);
                case X_FORWARDED_PROTO -> to.add(name, before == null ? target.scheme() : before);
                case X_FORWARDED_HOST -> {
                    if (before != null || target.hostBytes().length > 0) {
                        to.add(name, before == null ? target.authority() : before);
                    }
                }
                case FORWARDED -> appended(name, before, forwarded(peer, target), to);
                case CLIENT_IP -> to.add(name, before == null ? peer == null ? "unknown" : text(peer) : before);
            }
        }
    }

    private static void appended(FieldName name, @Nullable String before, String last, FieldSection.Builder to) {
        to.add(name, before == null ? last : before + ", " + last);
    }

    /** One element of Forwarded (RFC 7239 s4): an address with colons stands in brackets and quotes, as does a port. */
    private static String forwarded(@Nullable InetAddress peer, TargetUri target) {
        String node = peer == null ? "unknown" : text(peer);
        String text = "for=" + (node.indexOf(':') >= 0 ? "\"[" + node + "]\"" : node) + ";proto=" + target.scheme();
        return target.hostBytes().length == 0 ? text : text + ";host=\"" + target.authority() + "\"";
    }

    /** The address without a zone, which means nothing elsewhere. */
    private static String text(InetAddress address) {
        String text = address.getHostAddress();
        int zone = text.indexOf('%');
        return zone < 0 ? text : text.substring(0, zone);
    }

    @SuppressWarnings("EnumOrdinal") // the table is in the order of the constants
    private static FieldName nameOf(ForwardedField field) {
        return NAMES[field.ordinal()];
    }
}
