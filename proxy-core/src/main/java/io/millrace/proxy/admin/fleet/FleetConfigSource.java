package io.millrace.proxy.admin.fleet;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** The configuration that a fleet shares. Implementations are thread-safe. */
public interface FleetConfigSource {
    /** Returns the state of the configuration on the known nodes. Does not block. */
    Status status();

    /** Returns the kept revisions, oldest first. Blocks. */
    List<Revision> history() throws AdminException;

    /**
     * Adds a part of a content to the upload in progress, or begins an upload with part 0.
     *
     * @param content SHA-256 of the whole text, in hexadecimal digits
     * @param part number of the part, from 0
     * @param bytes next bytes of the text, compressed with gzip
     * @return number of bytes received so far
     */
    long part(String content, int part, byte[] bytes) throws AdminException;

    /** Checks a revision, and publishes it to the nodes. */
    CompletionStage<PushReport> push(Push push) throws AdminException;

    /**
     * The state of the configuration. Immutable.
     *
     * @param fleet name of the fleet; empty without one
     * @param node name of this node
     * @param state {@code on}, {@code off} without a public key, {@code disconnected} from the servers, or {@code
     *     unavailable} if the servers do not answer for the configuration
     * @param problem reason of the state; empty for none
     * @param revision revision in force on this node; 0 for none
     * @param newest newest revision that this node knows; 0 for none
     * @param next number of the next revision
     * @param stage the word none, canary (only canary nodes apply the newest revision) or all
     * @param content SHA-256 of the newest content, or the word none
     * @param previous revision to which a canary goes back; 0 without a canary, or without an earlier revision
     * @param previousContent SHA-256 of the content of the revision {@code previous}, or the word none
     * @param canary nodes that apply the newest revision first
     * @param guards conditions on the figures of the canary nodes; the revision is rolled back if one of them fails
     * @param seconds time for which the guards observe the canary nodes
     * @param failed revision that a guard has rolled back; 0 for none
     * @param reason why the revision {@code failed} was rolled back: the figure, its value and its limit
     * @param nodes all known nodes
     */
    record Status(
            String fleet,
            String node,
            String state,
            String problem,
            long revision,
            long newest,
            long next,
            String stage,
            String content,
            long previous,
            String previousContent,
            List<String> canary,
            List<String> guards,
            long seconds,
            long failed,
            String reason,
            List<Node> nodes) {}

    /**
     * The configuration on a node. Immutable.
     *
     * @param connection live, away (no recent report), or left (the node has left the fleet)
     * @param revision revision in force; 0 for none
     * @param newest newest revision that the node knows, to which the state refers; 0 for none
     * @param state off (the node does not take part), local (only its own file is in force), or for the newest
     *     revision: applied, rejected or pending
     * @param reason reason of the state; empty for none
     */
    record Node(String node, String tier, String connection, long revision, long newest, String state, String reason) {}

    /**
     * A revision. Immutable.
     *
     * @param at time of its signature
     * @param by name of the operator
     * @param length length of the text, in bytes
     * @param content SHA-256 of the text; {@code none} for none
     * @param restores earlier revision with this content; 0 if it is not a rollback
     * @param canary nodes that applied it first
     * @param failure the figure because of which it was rolled back; empty for none
     * @param isCurrent whether it is the newest one
     */
    record Revision(
            long revision,
            String at,
            String by,
            long length,
            String content,
            long restores,
            List<String> canary,
            String failure,
            boolean isCurrent) {}

    /**
     * A revision to publish. Immutable.
     *
     * @param statement signed description of the revision
     * @param signature Base64
     * @param fallback signed description of the revision that replaces it if a guard fails; empty without a canary
     * @param fallbackSignature Base64
     */
    record Push(String statement, String signature, String fallback, String fallbackSignature) {}

    /**
     * The result of a push. Immutable.
     *
     * @param ok whether it was published
     * @param revision its number
     * @param stage canary or all
     * @param problems reasons why it was not published; errors of the text begin with file and line
     */
    record PushReport(boolean ok, long revision, String stage, List<String> problems) {}
}
