// Methods over all problems, each at its best setting: the first few, and the others on demand.

const LEADERS = 6; // lines that are not folded

function showLeaderboard() {
  const part = byId("leaderboard"),
    board = DATA.leaderboard;
  if (!board) return part.remove();
  const [first, others] = [board.lines.slice(0, LEADERS), board.lines.slice(LEADERS)];
  part.append(
    h("h2", null, "Leaderboard"),
    plainTable("Methods on all problems, at the settings that did best for each on other seeds", board.head, first),
    h(
      "details",
      null,
      h("summary", null, `${others.length} more methods, and what the columns mean`),
      plainTable("The other methods", board.head, others),
      h("p", null, board.note),
    ),
  );
}
