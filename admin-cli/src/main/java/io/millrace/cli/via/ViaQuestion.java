package io.millrace.cli.via;

import java.util.List;

/**
 * The positions of the diagnostic letters in a Via field, in order. At each position a capital letter or a blank
 * answers one question about the request. The meanings are from Traffic Server's documentation.
 */
enum ViaQuestion {
    CLIENT(
            "u",
            "client's request",
            "Iconditional",
            "Nno-cache",
            "Ccookie",
            "Eerror in the request",
            "Ssimple, not conditional"),
    LOOKUP(
            "c",
            "cache lookup",
            "Ain the cache, not acceptable",
            "Hin the cache, fresh (hit)",
            "Rin RAM, fresh (hit)",
            "Wfresh while it is being fetched for another (hit)",
            "Sin the cache, stale",
            "Mnot in the cache (miss)",
            " no lookup"),
    SERVER("s", "origin", "Eerror in its response", "Nnot modified", "Sit answered", " not asked"),
    FILL("f", "cache fill", "Ddeleted", "Uupdated", "Wwritten, a new copy", " nothing written"),
    PROXY("p", "proxy's answer", "Nnot modified", "Rthe origin has revalidated it", "Sserved", " unknown"),
    ERROR(
            "e",
            "error",
            "Aauthorisation failed",
            "Cconnection to the origin failed",
            "Dname of the origin not found",
            "Frequest forbidden",
            "Hsyntax of the header",
            "Lthe request goes in circles",
            "Mmoved temporarily",
            "Nno error",
            "Rcache read error",
            "Sthe origin's error",
            "Ttimeout",
            " unknown"),
    TUNNEL(
            "t",
            "why the cache was passed by",
            "Uthe URL looks dynamic",
            "Mthe method",
            "Ocaching is off",
            "Fa header field",
            "Nno forwarding",
            "Aauthorisation",
            " it was not"),
    TYPE("c", "kind of cache", "Ccache", "Lcluster", "Pparent", "Sorigin", " none"),
    RESULT(
            "",
            "what the cache gave",
            "Ca hit that the configuration has validated",
            "Ua hit that the client has validated",
            "Da hit that the method has sent on",
            "Sa hit that was stale",
            "Ha hit",
            "Na conditional hit, answered with 304",
            "Ia precondition failed, answered with 412",
            "Ma miss",
            "Ka miss because of cookies",
            " nothing"),
    ICP("i", "cache peers (ICP)", "Sit succeeded", "Fit failed", " not asked"),
    PARENT("p", "parent proxy", "Sconnection opened", "Fconnection failed", " not asked"),
    CONNECTION("s", "connection to the origin", "Sopened or taken from the pool", "Ffailed", " not needed");

    private final String flag;
    private final String question;

    @SuppressWarnings("ImmutableEnumChecker") // the list is immutable
    private final List<String> answers;

    /** @param answers the possible values: each string is the letter, directly followed by its meaning */
    ViaQuestion(String flag, String question, String... answers) {
        this.flag = flag;
        this.question = question;
        this.answers = List.of(answers);
    }

    /** The lower-case letter that precedes the value; empty if the value directly follows another value. */
    String flag() {
        return flag;
    }

    String question() {
        return question;
    }

    /** Returns the meaning of a letter. */
    String answer(char letter) {
        for (String answer : answers) {
            if (answer.charAt(0) == letter) {
                return answer.substring(1);
            }
        }
        return letter == ' ' ? "unknown" : "a letter that is not known";
    }
}
