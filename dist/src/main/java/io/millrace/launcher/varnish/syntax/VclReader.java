package io.millrace.launcher.varnish.syntax;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import io.millrace.launcher.varnish.syntax.VclLexer.Token;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The parser of a VCL file and of the files that it includes. Confined to one thread. */
public final class VclReader {
    private final Workspace workspace;
    private final Vcl vcl = new Vcl();

    /** Creates a reader that reports errors to the workspace. */
    public VclReader(Workspace workspace) {
        this.workspace = workspace;
    }

    /** The declarations that were read. */
    public Vcl vcl() {
        return vcl;
    }

    /** Reads a file. Reading ends at the first error. */
    public void read(Path path) {
        SourceFile file = workspace.read(path);
        VclLexer lexer = new VclLexer(file);
        List<Token> tokens = lexer.tokens();
        if (workspace.problems().isEmpty()) {
            try {
                new FileParser(file, lexer.text(), tokens, path).declarations();
            } catch (SyntaxException e) {
                file.problem(e.token.line(), e.token.column(), e.message);
            }
        }
    }

    /** Thrown at a syntax error. */
    private static final class SyntaxException extends Exception {
        private static final long serialVersionUID = 1;
        private final transient Token token;
        private final String message;

        SyntaxException(Token token, String message) {
            super(message, null, false, false);
            this.token = token;
            this.message = message;
        }
    }

    /** The parser of one file. */
    private final class FileParser {
        /** Limit of nested blocks and conditions. */
        private static final int DEPTH_MAX = 100;

        private final SourceFile file;
        private final String text;
        private final List<Token> tokens;
        private final Path path;
        /** Index of the next token. */
        private int at;

        private int depth;

        FileParser(SourceFile file, String text, List<Token> tokens, Path path) {
            this.file = file;
            this.text = text;
            this.tokens = tokens;
            this.path = path;
        }

        private Token peek() {
            return tokens.get(at);
        }

        private Token next() {
            Token token = tokens.get(at);
            if (token.type() != VclLexer.Type.END) {
                at++;
            }
            return token;
        }

        private Token expect(String text) throws SyntaxException {
            Token token = next();
            if (!token.is(text)) {
                throw new SyntaxException(token, "expected '" + text + "', found '" + token.text() + "'");
            }
            return token;
        }

        private String word() throws SyntaxException {
            Token token = next();
            if (token.type() != VclLexer.Type.WORD) {
                throw new SyntaxException(token, "expected a name, found '" + token.text() + "'");
            }
            return token.text();
        }

        /** Returns the source text between two positions, on one line and without comments. */
        private String source(int from, int to) {
            StringBuilder out = new StringBuilder();
            for (String each : text.substring(from, to).split("\n", -1)) {
                String part = each.strip().replace('\t', ' ');
                if (!part.startsWith("#") && !part.startsWith("//")) {
                    out.append(out.isEmpty() ? "" : " ").append(part.replaceAll("\\s+(#|//)\\s.*", ""));
                }
            }
            return out.toString();
        }

        /** Creates the entry for the tokens from {@code first} to the last token that was read. */
        private Entry entry(Token first) {
            Token last = tokens.get(at - 1);
            return file.entry(first.line(), last.lastLine(), first.column(), source(first.start(), last.end()));
        }

        void declarations() throws SyntaxException {
            while (peek().type() != VclLexer.Type.END) {
                Token first = peek();
                if (first.type() == VclLexer.Type.CODE) {
                    next();
                    entry(first).notMapped("Millrace runs no code in C");
                    continue;
                }
                if (first.is(";")) {
                    next();
                    file.markProcessed(first.line(), first.line());
                    continue;
                }
                switch (word()) {
                    case "vcl" -> {
                        Token version = next();
                        expect(";");
                        Entry entry = entry(first);
                        entry.note("the file is written in VCL " + version.text());
                        if (!version.text().startsWith("4")) {
                            throw new SyntaxException(
                                    version,
                                    "version " + version.text()
                                            + " is not supported; convert the file to VCL 4.0 or 4.1");
                        }
                    }
                    case "import" -> {
                        skipTo(";");
                        entry(first).note("the functions of the module are listed where they are used");
                    }
                    case "include" -> include(first);
                    case "backend" -> backend(first);
                    case "probe" -> {
                        String name = word();
                        List<Vcl.Field> fields = new ArrayList<>();
                        expect("{");
                        Entry entry = entry(first);
                        fields(fields);
                        vcl.probes().put(name, new Vcl.Block(name, fields, entry));
                    }
                    case "acl" -> acl(first);
                    case "sub" -> {
                        String name = word();
                        expect("{");
                        Entry entry = entry(first);
                        entry.note("the statements of the subroutine are listed on their own lines");
                        vcl.addSub(name, block());
                    }
                    default -> throw new SyntaxException(first, "'" + first.text() + "' is not a declaration of VCL 4");
                }
            }
        }

        private void skipTo(String end) throws SyntaxException {
            while (!peek().is(end)) {
                if (next().type() == VclLexer.Type.END) {
                    throw new SyntaxException(peek(), "expected '" + end + "', found the end of the file");
                }
            }
            next();
        }

        private void include(Token first) throws SyntaxException {
            if (peek().is("+")) {
                next();
                word();
            }
            Token name = next();
            expect(";");
            Entry entry = entry(first);
            Path parent = path.toAbsolutePath().getParent();
            Path found = parent == null ? Path.of(name.text()) : parent.resolve(name.text());
            if (!Files.isRegularFile(found)) {
                found = workspace.base().resolve(name.text());
            }
            if (!Files.isRegularFile(found)) {
                Path last = Path.of(name.text()).getFileName();
                found = last == null ? found : workspace.base().resolve(last);
            }
            if (!Files.isRegularFile(found)) {
                entry.notMapped("the file does not exist: its declarations are missing here");
            } else if (workspace.isRead(found)) {
                entry.note("the file was read before");
            } else {
                entry.note("the file is in this report");
                VclReader.this.read(found);
            }
        }

        private void backend(Token first) throws SyntaxException {
            String name = word();
            List<Vcl.Field> fields = new ArrayList<>();
            if (peek().is("none")) {
                next();
                expect(";");
                vcl.backends().put(name, new Vcl.Block(name, fields, entry(first)));
                return;
            }
            expect("{");
            Entry entry = entry(first);
            fields(fields);
            vcl.backends().put(name, new Vcl.Block(name, fields, entry));
        }

        /** Reads fields up to the closing brace. */
        private void fields(List<Vcl.Field> fields) throws SyntaxException {
            while (!peek().is("}")) {
                Token first = expect(".");
                String name = word();
                expect("=");
                List<Vcl.Field> inner = new ArrayList<>();
                StringBuilder value = new StringBuilder();
                if (peek().is("{")) {
                    next();
                    Entry entry = entry(first);
                    fields(inner);
                    fields.add(new Vcl.Field(name, "", inner, entry));
                    if (peek().is(";")) {
                        next();
                    }
                    continue;
                }
                while (!peek().is(";")) {
                    Token part = next();
                    if (part.type() == VclLexer.Type.END || part.is("}")) {
                        throw new SyntaxException(part, "expected ';' after ." + name);
                    }
                    value.append(value.isEmpty() ? "" : "\n").append(part.text());
                }
                next();
                fields.add(new Vcl.Field(name, value.toString(), inner, entry(first)));
            }
            Token close = next();
            file.markProcessed(close.line(), close.line());
        }

        private void acl(Token first) throws SyntaxException {
            String name = word();
            while (!peek().is("{") && peek().type() != VclLexer.Type.END) {
                next();
            }
            expect("{");
            Entry entry = entry(first);
            List<Vcl.Address> addresses = new ArrayList<>();
            while (!peek().is("}")) {
                Token start = peek();
                StringBuilder address = new StringBuilder();
                boolean negated = false;
                while (!peek().is(";")) {
                    Token part = next();
                    if (part.type() == VclLexer.Type.END || part.is("}")) {
                        throw new SyntaxException(part, "expected ';' after the address");
                    }
                    if (part.is("!")) {
                        negated = true;
                    } else if (!part.is("(") && !part.is(")")) {
                        address.append(part.text());
                    }
                }
                next();
                addresses.add(new Vcl.Address(address.toString(), negated, entry(start)));
            }
            Token close = next();
            file.markProcessed(close.line(), close.line());
            vcl.acls().put(name, new Vcl.Acl(name, addresses, entry));
        }

        /** Reads statements up to the closing brace. */
        private List<Statement> block() throws SyntaxException {
            if (++depth > DEPTH_MAX) {
                throw new SyntaxException(peek(), "blocks are nested more than " + DEPTH_MAX + " levels deep");
            }
            List<Statement> statements = new ArrayList<>();
            while (!peek().is("}")) {
                Token first = next();
                if (first.is(";")) {
                    file.markProcessed(first.line(), first.line());
                } else if (first.type() == VclLexer.Type.CODE) {
                    statements.add(new Statement("C", entry(first), "", "", "", null));
                } else if (first.type() != VclLexer.Type.WORD) {
                    throw new SyntaxException(first, "expected a statement, found '" + first.text() + "'");
                } else {
                    statement(first, statements);
                }
            }
            Token close = next();
            file.markProcessed(close.line(), close.line());
            depth--;
            return statements;
        }

        private void statement(Token first, List<Statement> statements) throws SyntaxException {
            switch (first.text()) {
                case "if", "elsif", "elseif", "elif", "else" -> branch(first, statements);
                case "set", "unset", "remove", "new" -> {
                    String target = word();
                    String operator = peek().type() == VclLexer.Type.OPERATOR && !peek().is(";") ? next().text() : "";
                    String value = restOfStatement();
                    String kind = first.text().equals("remove") ? "unset" : first.text();
                    statements.add(new Statement(kind, entry(first), target, operator, value, null));
                }
                case "return" -> {
                    String action = "";
                    if (peek().is("(")) {
                        next();
                        action = word();
                    }
                    String value = restOfStatement();
                    String arguments = value.replaceAll("^\\(|\\)*$", "").strip();
                    statements.add(new Statement("return", entry(first), action, "", arguments, null));
                }
                case "call" -> {
                    String name = word();
                    restOfStatement();
                    statements.add(new Statement("call", entry(first), name, "", "", null));
                }
                default -> {
                    String value = restOfStatement();
                    statements.add(new Statement(first.text(), entry(first), "", "", value, null));
                }
            }
        }

        /** Reads up to the semicolon, and returns the source before it. */
        private String restOfStatement() throws SyntaxException {
            int from = peek().start();
            int to = from;
            while (!peek().is(";")) {
                Token token = next();
                if (token.type() == VclLexer.Type.END || token.is("{") || token.is("}")) {
                    throw new SyntaxException(token, "expected ';', found '" + token.text() + "'");
                }
                to = token.end();
            }
            next();
            return source(from, to);
        }

        private void branch(Token first, List<Statement> statements) throws SyntaxException {
            boolean otherwise = first.is("else");
            boolean tested = !otherwise;
            if (otherwise && peek().is("if")) {
                next();
                tested = true;
            }
            Condition condition = null;
            if (tested) {
                expect("(");
                condition = disjunction();
                expect(")");
            }
            expect("{");
            String kind = !otherwise && first.is("if") ? "if" : tested ? "elsif" : "else";
            Statement statement = new Statement(kind, entry(first), "", "", "", condition);
            statements.add(statement);
            statement.body().addAll(block());
        }

        private Condition disjunction() throws SyntaxException {
            if (++depth > DEPTH_MAX) {
                throw new SyntaxException(peek(), "conditions are nested more than " + DEPTH_MAX + " levels deep");
            }
            List<Condition> parts = new ArrayList<>();
            parts.add(conjunction());
            while (peek().is("||")) {
                next();
                parts.add(conjunction());
            }
            depth--;
            return parts.size() == 1 ? parts.get(0) : new Condition.Any(List.copyOf(parts));
        }

        private Condition conjunction() throws SyntaxException {
            List<Condition> parts = new ArrayList<>();
            parts.add(negationOrTest());
            while (peek().is("&&")) {
                next();
                parts.add(negationOrTest());
            }
            return parts.size() == 1 ? parts.get(0) : new Condition.All(List.copyOf(parts));
        }

        private Condition negationOrTest() throws SyntaxException {
            if (peek().is("!")) {
                next();
                return new Condition.Not(negationOrTest());
            }
            if (peek().is("(")) {
                next();
                Condition inner = disjunction();
                expect(")");
                return inner;
            }
            String left = operand();
            if (!List.of("==", "!=", "~", "!~", "<", ">", "<=", ">=").contains(peek().text())
                    || peek().type() != VclLexer.Type.OPERATOR) {
                return new Condition.Test(left, "", "", false);
            }
            String operator = next().text();
            boolean quoted = peek().type() == VclLexer.Type.STRING;
            return new Condition.Test(left, operator, operand(), quoted);
        }

        /** Reads one side of a comparison. */
        private String operand() throws SyntaxException {
            StringBuilder value = new StringBuilder();
            int from = peek().start();
            int to = from;
            int open = 0;
            boolean single = true;
            while (open > 0
                    || !List.of("==", "!=", "~", "!~", "<", ">", "<=", ">=", "&&", "||", ")", "{", ";")
                            .contains(peek().text())
                    || peek().type() == VclLexer.Type.STRING) {
                Token token = next();
                if (token.type() == VclLexer.Type.END) {
                    throw new SyntaxException(token, "the condition is not complete");
                }
                open += token.is("(") ? 1 : token.is(")") ? -1 : 0;
                single = value.isEmpty();
                value.append(token.text());
                to = token.end();
            }
            if (value.isEmpty() && to == from) {
                throw new SyntaxException(peek(), "expected a value, found '" + peek().text() + "'");
            }
            return single ? value.toString() : source(from, to);
        }
    }
}
