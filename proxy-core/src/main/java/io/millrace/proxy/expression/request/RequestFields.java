package io.millrace.proxy.expression.request;

import io.millrace.proxy.expression.Field;
import io.millrace.proxy.expression.FieldType;
import io.millrace.proxy.expression.Schema;
import java.util.List;
import java.util.Set;

/** The fields that conditions of rules may name. */
public final class RequestFields {
    private static final Set<String> OF_RESPONSE = Set.of("status", "cache", "response_header");
    private static final Set<String> OF_CLIENT = Set.of(
            "request_header",
            "cookie",
            "client",
            "country",
            "continent",
            "asn",
            "protocol",
            "time",
            "weekday",
            "random");
    private static final Set<String> OF_PLACES = Set.of("country", "continent");
    private static final String ASN = "asn";

    /** All fields, in the order of the reference page. */
    public static final Schema<RequestFacts> SCHEMA = Schema.of(List.of(
            Field.text("method", "the method", RequestFacts::method),
            Field.lowerCase("scheme", "`http` or `https`", RequestFacts::scheme),
            Field.lowerCase(
                    "host", "the requested host: the host of the client's URL, without its port", RequestFacts::host),
            Field.number("port", FieldType.INTEGER, "the port of the client's URL", RequestFacts::port),
            Field.text(
                    "path",
                    "the path of the client's URL in the normal form of cache keys, without the query",
                    RequestFacts::path),
            Field.text("query", "the query as received, without `?`; empty where there is none", RequestFacts::query),
            Field.keyedCaseSensitive(
                    "param",
                    "the values of a query parameter as received, empty without `=`",
                    RequestFacts::parameters),
            Field.keyed(
                    "request_header",
                    "the values of a request field, one for each field line",
                    RequestFacts::requestHeader),
            Field.keyedCaseSensitive("cookie", "the values of a cookie", RequestFacts::cookies),
            Field.address(
                    "client",
                    "the client's address of the connection, or that of a trusted PROXY header",
                    RequestFacts::client),
            Field.text(
                    "country",
                    "the country of the address in `client`, an ISO 3166-1 code such as `DE`, from `geo.database`; no"
                            + " value if unknown",
                    RequestFacts::country),
            Field.text(
                    "continent",
                    "the continent of the address in `client`, `AF`, `AN`, `AS`, `EU`, `NA`, `OC` or `SA`, from"
                            + " `geo.database`; no value if unknown",
                    RequestFacts::continent),
            Field.number(
                    ASN,
                    FieldType.INTEGER,
                    "the number of the autonomous system of the address in `client`, from `geo.asn_database`; no value"
                            + " if unknown",
                    facts -> facts.asn() < 0 ? Field.ABSENT : facts.asn()),
            Field.lowerCase("protocol", "`http/1.0`, `http/1.1` or `http/2`", RequestFacts::protocol),
            Field.number(
                    "time",
                    FieldType.DURATION,
                    "time since midnight, in the local time of this machine",
                    RequestFacts::timeOfDayNanos),
            Field.number(
                    "weekday", FieldType.INTEGER, "1 for Monday to 7 for Sunday, local time", RequestFacts::weekday),
            Field.number(
                    "random",
                    FieldType.INTEGER,
                    "a random number from 0 to 99, the same for all rules of a request",
                    RequestFacts::random),
            Field.number("status", FieldType.INTEGER, "the status code of the response", RequestFacts::status),
            Field.lowerCase("cache", "the cache result, as in the metric label `cache`", RequestFacts::cacheResult),
            Field.keyed(
                    "response_header",
                    "the values of a response field as received or stored, one for each field line",
                    RequestFacts::responseHeader)));

    private RequestFields() {}

    /** Returns true if the field is known only when the response is sent. */
    public static boolean isOfResponse(Field<RequestFacts> field) {
        return OF_RESPONSE.contains(field.name());
    }

    /** Returns true if the field needs a database of countries. */
    public static boolean isOfPlaces(Field<RequestFacts> field) {
        return OF_PLACES.contains(field.name());
    }

    /** Returns true if the field needs a database of autonomous systems. */
    public static boolean isOfNetworks(Field<RequestFacts> field) {
        return field.name().equals(ASN);
    }

    /** Returns true if the field can differ between clients that request the same URL. */
    public static boolean isOfClient(Field<RequestFacts> field) {
        return OF_CLIENT.contains(field.name());
    }
}
